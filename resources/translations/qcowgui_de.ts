<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
<context>
    <name>AboutDialog</name>
    <message>
        <source>About qcowgui</source>
        <translation>Über qcowgui</translation>
    </message>
    <message>
        <source>See inside qcow2 disk images, and convert them.
Free software under the MIT licence.</source>
        <translation>Sieht in qcow2-Images hinein und konvertiert sie.
Freie Software unter der MIT-Lizenz.</translation>
    </message>
</context>
<context>
    <name>Actions</name>
    <message>
        <source>&amp;About qcowgui</source>
        <translation>Ü&amp;ber qcowgui</translation>
    </message>
    <message>
        <source>&amp;Back</source>
        <translation>&amp;Zurück</translation>
    </message>
    <message>
        <source>&amp;Benchmark</source>
        <translation>&amp;Benchmark</translation>
    </message>
    <message>
        <source>&amp;Colours</source>
        <translation>&amp;Farben</translation>
    </message>
    <message>
        <source>&amp;Convert…</source>
        <translation>&amp;Konvertieren …</translation>
    </message>
    <message>
        <source>&amp;Copy</source>
        <translation>&amp;Kopieren</translation>
    </message>
    <message>
        <source>&amp;Dark</source>
        <translation>&amp;Dunkel</translation>
    </message>
    <message>
        <source>&amp;Deep check</source>
        <translation>&amp;Tiefenprüfung</translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation>&amp;Bearbeiten</translation>
    </message>
    <message>
        <source>&amp;File</source>
        <translation>&amp;Datei</translation>
    </message>
    <message>
        <source>&amp;Forward</source>
        <translation>&amp;Vor</translation>
    </message>
    <message>
        <source>&amp;Go</source>
        <translation>&amp;Gehe</translation>
    </message>
    <message>
        <source>&amp;Go to…</source>
        <translation>&amp;Gehe zu …</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>&amp;Hilfe</translation>
    </message>
    <message>
        <source>&amp;Image</source>
        <translation>&amp;Image</translation>
    </message>
    <message>
        <source>&amp;Keyboard</source>
        <translation>&amp;Tastatur</translation>
    </message>
    <message>
        <source>&amp;Light</source>
        <translation>&amp;Hell</translation>
    </message>
    <message>
        <source>&amp;Manual</source>
        <translation>&amp;Handbuch</translation>
    </message>
    <message>
        <source>&amp;Next finding</source>
        <translation>&amp;Nächster Befund</translation>
    </message>
    <message>
        <source>&amp;Next tab</source>
        <translation>&amp;Nächster Tab</translation>
    </message>
    <message>
        <source>&amp;Open…</source>
        <translation>Ö&amp;ffnen …</translation>
    </message>
    <message>
        <source>&amp;Optimise as a copy…</source>
        <translation>Als Kopie &amp;optimieren …</translation>
    </message>
    <message>
        <source>&amp;Previous finding</source>
        <translation>Vo&amp;riger Befund</translation>
    </message>
    <message>
        <source>&amp;Previous tab</source>
        <translation>&amp;Voriger Tab</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>&amp;Beenden</translation>
    </message>
    <message>
        <source>Measure compression, threads and random reads on what the image holds</source>
        <translation>Kompression, Threads und zufälliges Lesen am Inhalt des Images messen</translation>
    </message>
    <message>
        <source>Read a&amp;gain</source>
        <translation>&amp;Neu lesen</translation>
    </message>
    <message>
        <source>&amp;Repair as a copy…</source>
        <translation>Als Kopie &amp;reparieren …</translation>
    </message>
    <message>
        <source>&amp;Reset layout</source>
        <translation>Anordnung &amp;zurücksetzen</translation>
    </message>
    <message>
        <source>&amp;Salvage…</source>
        <translation>R&amp;etten …</translation>
    </message>
    <message>
        <source>&amp;Settings…</source>
        <translation>&amp;Einstellungen …</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>&amp;Ansicht</translation>
    </message>
    <message>
        <source>As the &amp;system</source>
        <translation>Wie das &amp;System</translation>
    </message>
    <message>
        <source>Chec&amp;k</source>
        <translation>&amp;Prüfen</translation>
    </message>
    <message>
        <source>Check all structures and refcounts</source>
        <translation>Alle Strukturen und Refcounts prüfen</translation>
    </message>
    <message>
        <source>Check all structures and refcounts, and decode every compressed cluster</source>
        <translation>Alle Strukturen und Refcounts prüfen und jeden komprimierten Cluster dekodieren</translation>
    </message>
    <message>
        <source>Close &amp;tab</source>
        <translation>&amp;Tab schließen</translation>
    </message>
    <message>
        <source>Com&amp;pare with…</source>
        <translation>&amp;Vergleichen mit …</translation>
    </message>
    <message>
        <source>Copy &amp;diagnostics</source>
        <translation>&amp;Diagnose kopieren</translation>
    </message>
    <message>
        <source>Copy &amp;rows</source>
        <translation>&amp;Zeilen kopieren</translation>
    </message>
    <message>
        <source>Copy &amp;table</source>
        <translation>&amp;Tabelle kopieren</translation>
    </message>
    <message>
        <source>Copy the versions of everything and what stands in the log</source>
        <translation>Die Versionen von allem und den Inhalt des Protokolls kopieren</translation>
    </message>
    <message>
        <source>E&amp;xport report…</source>
        <translation>Be&amp;richt exportieren …</translation>
    </message>
    <message>
        <source>Show the &amp;conversions</source>
        <translation>&amp;Konvertierungen zeigen</translation>
    </message>
    <message>
        <source>Show the &amp;map</source>
        <translation>K&amp;arte zeigen</translation>
    </message>
    <message>
        <source>Show the &amp;table</source>
        <translation>&amp;Tabelle zeigen</translation>
    </message>
    <message>
        <source>Show the b&amp;ytes</source>
        <translation>&amp;Bytes zeigen</translation>
    </message>
    <message>
        <source>Show the f&amp;indings</source>
        <translation>B&amp;efunde zeigen</translation>
    </message>
    <message>
        <source>Stop the &amp;check</source>
        <translation>Prüfung &amp;abbrechen</translation>
    </message>
</context>
<context>
    <name>AllowBox</name>
    <message>
        <source>Allow</source>
        <translation>Erlauben</translation>
    </message>
    <message>
        <source>Don’t read them</source>
        <translation>Nicht lesen</translation>
    </message>
    <message>
        <source>Not all of them lie in the image’s own folder. An image from a stranger may name any file of yours, and the result would hold a copy of it.</source>
        <translation>Nicht alle liegen im Ordner des Images. Ein Image von Fremden kann jede Ihrer Dateien nennen, und das Ergebnis enthielte eine Kopie davon.</translation>
    </message>
    <message>
        <source>Read other files?</source>
        <translation>Andere Dateien lesen?</translation>
    </message>
    <message>
        <source>The image refers to other files. Read them too?</source>
        <translation>Das Image verweist auf andere Dateien. Sollen auch sie gelesen werden?</translation>
    </message>
</context>
<context>
    <name>Banner</name>
    <message>
        <source>Copy details</source>
        <translation>Einzelheiten kopieren</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>Ausblenden</translation>
    </message>
</context>
<context>
    <name>BenchmarkForm</name>
    <message>
        <source>All that is stored</source>
        <translation>Alles Gespeicherte</translation>
    </message>
    <message>
        <source>Backends</source>
        <translation>Backends</translation>
    </message>
    <message>
        <source>Cluster sizes</source>
        <translation>Clustergrößen</translation>
    </message>
    <message>
        <source>How much of the disk is tried; it is also written to a temporary folder</source>
        <translation>Wie viel der Platte probiert wird; es wird auch in einen temporären Ordner geschrieben</translation>
    </message>
    <message>
        <source>How often each thing is measured</source>
        <translation>Wie oft jedes gemessen wird</translation>
    </message>
    <message>
        <source>Let qemu-img, and nbdkit with nbdcopy, convert the sample too, where they are found on this machine</source>
        <translation>Lässt auch qemu-img sowie nbdkit mit nbdcopy die Probe konvertieren, wenn sie auf diesem Rechner vorhanden sind</translation>
    </message>
    <message>
        <source>Other programs</source>
        <translation>Andere Programme</translation>
    </message>
    <message>
        <source>Random reads</source>
        <translation>Zufälliges Lesen</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>Durchläufe</translation>
    </message>
    <message>
        <source>Sample</source>
        <translation>Probe</translation>
    </message>
    <message>
        <source>Write an image of each cluster size, and read 4 KiB at random places of it</source>
        <translation>Schreibt für jede Clustergröße ein Image und liest daraus 4 KiB an zufälligen Stellen</translation>
    </message>
    <message>
        <source>not installed: pip install &apos;qcowgui[bench]&apos;</source>
        <translation>nicht installiert: pip install &apos;qcowgui[bench]&apos;</translation>
    </message>
</context>
<context>
    <name>BenchmarkView</name>
    <message>
        <source>99 of 100 within</source>
        <translation>99 von 100 innerhalb</translation>
    </message>
    <message>
        <source>Allow…</source>
        <translation>Erlauben …</translation>
    </message>
    <message>
        <source>Cluster size that the plots show</source>
        <translation>Clustergröße, die die Diagramme zeigen</translation>
    </message>
    <message>
        <source>Codecs</source>
        <translation>Codecs</translation>
    </message>
    <message>
        <source>Compressing</source>
        <translation>Komprimieren</translation>
    </message>
    <message>
        <source>Decompressing</source>
        <translation>Dekomprimieren</translation>
    </message>
    <message>
        <source>JSON (*.json)</source>
        <translation>JSON (*.json)</translation>
    </message>
    <message>
        <source>MB/s by size and level</source>
        <translation>MB/s nach Größe und Stufe</translation>
    </message>
    <message>
        <source>MB/s by threads</source>
        <translation>MB/s nach Threads</translation>
    </message>
    <message>
        <source>Measures on what this image holds how small and how fast each type, level and cluster size is, how more threads help, and how long a guest waits for a random read. Close other programs first: they would be measured, too.</source>
        <translation>Misst am Inhalt dieses Images, wie klein und wie schnell jede Art, Stufe und Clustergröße ist, was mehr Threads bringen und wie lange ein Gast auf zufälliges Lesen wartet. Schließen Sie vorher andere Programme: Sie würden mitgemessen.</translation>
    </message>
    <message>
        <source>Plots for clusters of</source>
        <translation>Diagramme für Cluster von</translation>
    </message>
    <message>
        <source>Programs</source>
        <translation>Programme</translation>
    </message>
    <message>
        <source>Progress of the benchmark</source>
        <translation>Fortschritt der Messung</translation>
    </message>
    <message>
        <source>Random reads</source>
        <translation>Zufälliges Lesen</translation>
    </message>
    <message>
        <source>Random reads against cluster size</source>
        <translation>Zufälliges Lesen nach Clustergröße</translation>
    </message>
    <message>
        <source>Save the figures</source>
        <translation>Zahlen speichern</translation>
    </message>
    <message>
        <source>Save…</source>
        <translation>Speichern …</translation>
    </message>
    <message>
        <source>Speed against size</source>
        <translation>Geschwindigkeit und Größe</translation>
    </message>
    <message>
        <source>Speed against threads</source>
        <translation>Geschwindigkeit und Threads</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>Start</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Stopp</translation>
    </message>
    <message>
        <source>Stopped before there was a figure.</source>
        <translation>Angehalten, bevor es eine Zahl gab.</translation>
    </message>
    <message>
        <source>Table (*.csv)</source>
        <translation>Tabelle (*.csv)</translation>
    </message>
    <message>
        <source>The benchmark needs files that this image refers to</source>
        <translation>Die Messung braucht Dateien, auf die dieses Image verweist</translation>
    </message>
    <message>
        <source>The figures are saved</source>
        <translation>Die Zahlen sind gespeichert</translation>
    </message>
    <message>
        <source>The figures can’t be saved</source>
        <translation>Die Zahlen können nicht gespeichert werden</translation>
    </message>
    <message>
        <source>The first figures come in a moment…</source>
        <translation>Die ersten Zahlen kommen gleich …</translation>
    </message>
    <message>
        <source>This can’t be measured</source>
        <translation>Das kann nicht gemessen werden</translation>
    </message>
    <message>
        <source>What the plots show the speed of</source>
        <translation>Wovon die Diagramme die Geschwindigkeit zeigen</translation>
    </message>
    <message>
        <source>µs for a random read</source>
        <translation>µs für ein zufälliges Lesen</translation>
    </message>
</context>
<context>
    <name>BitFields</name>
    <message>
        <source>Point at a part, or step with the arrow keys, to have it explained.</source>
        <translation>Zeigen Sie auf einen Teil oder gehen Sie mit den Pfeiltasten, um ihn erklärt zu bekommen.</translation>
    </message>
    <message>
        <source>What these bits mean</source>
        <translation>Was diese Bits bedeuten</translation>
    </message>
</context>
<context>
    <name>ChainPanel</name>
    <message>
        <source>Allow…</source>
        <translation>Erlauben …</translation>
    </message>
    <message>
        <source>Copy qemu-img rebase</source>
        <translation>qemu-img rebase kopieren</translation>
    </message>
    <message>
        <source>Files of the backing chain</source>
        <translation>Dateien der Backing-Kette</translation>
    </message>
    <message>
        <source>Locate…</source>
        <translation>Suchen …</translation>
    </message>
    <message>
        <source>Open in a tab</source>
        <translation>In einem Tab öffnen</translation>
    </message>
    <message>
        <source>Puts a command on the clipboard that writes the new place into the image. This program itself never changes an image.</source>
        <translation>Legt einen Befehl in die Zwischenablage, der den neuen Ort in das Image schreibt. Dieses Programm selbst ändert nie ein Image.</translation>
    </message>
    <message>
        <source>Where is this file?</source>
        <translation>Wo ist diese Datei?</translation>
    </message>
</context>
<context>
    <name>CloseGuard</name>
    <message>
        <source>Cancel and close</source>
        <translation>Abbrechen und schließen</translation>
    </message>
    <message>
        <source>Cancel and close?</source>
        <translation>Abbrechen und schließen?</translation>
    </message>
    <message>
        <source>Conversions can be resumed at the next start.</source>
        <translation>Konvertierungen können beim nächsten Start fortgesetzt werden.</translation>
    </message>
    <message>
        <source>Keep the window open</source>
        <translation>Fenster offen lassen</translation>
    </message>
    <message>
        <source>What is cancelled leaves nothing behind.</source>
        <translation>Was abgebrochen wird, hinterlässt nichts.</translation>
    </message>
    <message>
        <source>{conversions} not finished yet.</source>
        <translation>{conversions} noch nicht fertig.</translation>
    </message>
    <message>
        <source>{copies} being written.</source>
        <translation>{copies} geschrieben.</translation>
    </message>
</context>
<context>
    <name>CompareView</name>
    <message>
        <source>All files (*)</source>
        <translation>Alle Dateien (*)</translation>
    </message>
    <message>
        <source>Allow…</source>
        <translation>Erlauben …</translation>
    </message>
    <message>
        <source>Another image…</source>
        <translation>Anderes Image …</translation>
    </message>
    <message>
        <source>Bitmap “{name}”</source>
        <translation>Bitmap „{name}“</translation>
    </message>
    <message>
        <source>Choose another image, such as a repaired or converted copy, to see which clusters a guest would read differently; or a snapshot or a bitmap of this image, to see what it holds or marks.</source>
        <translation>Wählen Sie ein anderes Image, etwa eine reparierte oder konvertierte Kopie, um zu sehen, welche Cluster ein Gast anders lesen würde; oder einen Snapshot oder ein Bitmap dieses Images, um zu sehen, was es enthält oder markiert.</translation>
    </message>
    <message>
        <source>Choose image…</source>
        <translation>Image wählen …</translation>
    </message>
    <message>
        <source>Compare with</source>
        <translation>Vergleichen mit</translation>
    </message>
    <message>
        <source>Comparing…</source>
        <translation>Wird verglichen …</translation>
    </message>
    <message>
        <source>Comparing… {share}</source>
        <translation>Wird verglichen … {share}</translation>
    </message>
    <message>
        <source>Disk images (*.qcow2 *.qcow *.img *.raw)</source>
        <translation>Disk-Images (*.qcow2 *.qcow *.img *.raw)</translation>
    </message>
    <message>
        <source>Guest’s disk against</source>
        <translation>Platte des Gasts gegen</translation>
    </message>
    <message>
        <source>Map of the differences</source>
        <translation>Karte der Unterschiede</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>Weiter</translation>
    </message>
    <message>
        <source>No further difference in this direction.</source>
        <translation>In dieser Richtung gibt es keinen weiteren Unterschied.</translation>
    </message>
    <message>
        <source>Previous</source>
        <translation>Zurück</translation>
    </message>
    <message>
        <source>Snapshot “{name}”</source>
        <translation>Snapshot „{name}“</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Stopp</translation>
    </message>
    <message>
        <source>Stopped.</source>
        <translation>Angehalten.</translation>
    </message>
    <message>
        <source>The comparison needs files that this image refers to</source>
        <translation>Der Vergleich braucht Dateien, auf die dieses Image verweist</translation>
    </message>
    <message>
        <source>The next difference</source>
        <translation>Der nächste Unterschied</translation>
    </message>
    <message>
        <source>The previous difference</source>
        <translation>Der vorige Unterschied</translation>
    </message>
    <message>
        <source>This can’t be compared</source>
        <translation>Das kann nicht verglichen werden</translation>
    </message>
    <message>
        <source>What the guest’s disk is compared with</source>
        <translation>Womit die Platte des Gasts verglichen wird</translation>
    </message>
    <message>
        <source>guest</source>
        <translation>Gast</translation>
    </message>
</context>
<context>
    <name>ConcernList</name>
    <message>
        <source>What to know before the start</source>
        <translation>Was vor dem Start zu wissen ist</translation>
    </message>
    <message>
        <source>and {count} more</source>
        <translation>und {count} weitere</translation>
    </message>
</context>
<context>
    <name>ConversionsPanel</name>
    <message>
        <source>Conversions</source>
        <translation>Konvertierungen</translation>
    </message>
    <message>
        <source>No conversion yet: drop images or folders here, or File → Convert… (Ctrl+E)</source>
        <translation>Noch keine Konvertierung: Legen Sie Images oder Ordner hier ab, oder Datei → Konvertieren … (Strg+E)</translation>
    </message>
</context>
<context>
    <name>ConvertDialog</name>
    <message>
        <source>Choose the image to convert</source>
        <translation>Image zum Konvertieren wählen</translation>
    </message>
    <message>
        <source>Convert</source>
        <translation>Konvertieren</translation>
    </message>
    <message>
        <source>Keep</source>
        <translation>Behalten</translation>
    </message>
    <message>
        <source>Not everything can be converted</source>
        <translation>Nicht alles kann konvertiert werden</translation>
    </message>
    <message>
        <source>Nothing of this can be converted</source>
        <translation>Nichts davon kann konvertiert werden</translation>
    </message>
    <message>
        <source>Settings of a conversion</source>
        <translation>Einstellungen einer Konvertierung</translation>
    </message>
    <message>
        <source>This does not suit {names}.</source>
        <translation>Das passt nicht zu {names}.</translation>
    </message>
</context>
<context>
    <name>DataTable</name>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Copy rows</source>
        <translation>Zeilen kopieren</translation>
    </message>
    <message>
        <source>Copy table</source>
        <translation>Tabelle kopieren</translation>
    </message>
</context>
<context>
    <name>Ending</name>
    <message>
        <source>Copied.</source>
        <translation>Kopiert.</translation>
    </message>
    <message>
        <source>Copied. qemu-img can’t be told, or does in another way:</source>
        <translation>Kopiert. Was qemu-img nicht gesagt werden kann oder was es anders macht:</translation>
    </message>
    <message>
        <source>Copy as qcowgui command</source>
        <translation>Als qcowgui-Befehl kopieren</translation>
    </message>
    <message>
        <source>Copy as qemu-img command</source>
        <translation>Als qemu-img-Befehl kopieren</translation>
    </message>
    <message>
        <source>Copy command</source>
        <translation>Befehl kopieren</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>Start</translation>
    </message>
</context>
<context>
    <name>EntryFilterBar</name>
    <message>
        <source>Allocated</source>
        <translation>Belegt</translation>
    </message>
    <message>
        <source>Any kind</source>
        <translation>Jede Art</translation>
    </message>
    <message>
        <source>Filter</source>
        <translation>Filter</translation>
    </message>
    <message>
        <source>Filter: word, digits or 0x…</source>
        <translation>Filter: Wort, Ziffern oder 0x…</translation>
    </message>
    <message>
        <source>Go to entry</source>
        <translation>Zum Eintrag</translation>
    </message>
    <message>
        <source>Kind of entries shown</source>
        <translation>Art der gezeigten Einträge</translation>
    </message>
    <message>
        <source>Only entries of which something is wrong</source>
        <translation>Nur Einträge, an denen etwas falsch ist</translation>
    </message>
    <message>
        <source>Only entries that name a cluster, or count one in use</source>
        <translation>Nur Einträge, die einen Cluster nennen oder einen benutzten zählen</translation>
    </message>
    <message>
        <source>The number of an entry, decimal or with 0x</source>
        <translation>Die Nummer eines Eintrags, dezimal oder mit 0x</translation>
    </message>
    <message>
        <source>This is no number.</source>
        <translation>Das ist keine Zahl.</translation>
    </message>
    <message>
        <source>With findings</source>
        <translation>Mit Befunden</translation>
    </message>
    <message>
        <source>Words of the kind, the flags, the use or a finding; hexadecimal digits of raw
words and offsets, with 0x their first ones; or the number of an entry.</source>
        <translation>Wörter der Art, der Flags, der Verwendung oder eines Befunds; hexadezimale Ziffern von rohen
Wörtern und Offsets, mit 0x ihre ersten; oder die Nummer eines Eintrags.</translation>
    </message>
    <message>
        <source>{count} …</source>
        <translation>{count} …</translation>
    </message>
    <message>
        <source>{shown} of {total}</source>
        <translation>{shown} von {total}</translation>
    </message>
</context>
<context>
    <name>EntryGrid</name>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Copy rows</source>
        <translation>Zeilen kopieren</translation>
    </message>
    <message>
        <source>Copy table</source>
        <translation>Tabelle kopieren</translation>
    </message>
    <message>
        <source>Follow</source>
        <translation>Folgen</translation>
    </message>
</context>
<context>
    <name>EntryTable</name>
    <message>
        <source>Copied {count}.</source>
        <translation>{count} kopiert.</translation>
    </message>
    <message>
        <source>Reading the table…</source>
        <translation>Tabelle wird gelesen …</translation>
    </message>
    <message>
        <source>Select a table in the structures.</source>
        <translation>Wählen Sie links unter den Strukturen eine Tabelle.</translation>
    </message>
    <message>
        <source>The image names no table here.</source>
        <translation>Das Image nennt hier keine Tabelle.</translation>
    </message>
    <message>
        <source>The table can&apos;t be read: {reason}</source>
        <translation>Die Tabelle kann nicht gelesen werden: {reason}</translation>
    </message>
    <message>
        <source>The table has no entry {entry}.</source>
        <translation>Die Tabelle hat keinen Eintrag {entry}.</translation>
    </message>
    <message>
        <source>There were {count}: more can&apos;t be copied at once.</source>
        <translation>Es waren {count}: Mehr kann nicht auf einmal kopiert werden.</translation>
    </message>
    <message>
        <source>This cluster is not in the image file.</source>
        <translation>Dieser Cluster liegt nicht in der Imagedatei.</translation>
    </message>
    <message>
        <source>This entry points to nothing.</source>
        <translation>Dieser Eintrag zeigt auf nichts.</translation>
    </message>
    <message>
        <source>{count} more should follow; the file ends before them.</source>
        <translation>{count} mehr sollten folgen; die Datei endet vorher.</translation>
    </message>
</context>
<context>
    <name>FindingsBar</name>
    <message>
        <source>Filter findings</source>
        <translation>Befunde filtern</translation>
    </message>
    <message>
        <source>Filter: words, a code or an offset</source>
        <translation>Filter: Wörter, ein Code oder ein Offset</translation>
    </message>
    <message>
        <source>Next finding</source>
        <translation>Nächster Befund</translation>
    </message>
    <message>
        <source>Previous finding</source>
        <translation>Voriger Befund</translation>
    </message>
    <message>
        <source>Show findings: {severity}</source>
        <translation>Befunde zeigen: {severity}</translation>
    </message>
</context>
<context>
    <name>FindingsModel</name>
    <message>
        <source>Code</source>
        <translation>Code</translation>
    </message>
    <message>
        <source>Count</source>
        <translation>Anzahl</translation>
    </message>
    <message>
        <source>Format description, section {spec}</source>
        <translation>Formatbeschreibung, Abschnitt {spec}</translation>
    </message>
    <message>
        <source>Guest range</source>
        <translation>Gastbereich</translation>
    </message>
    <message>
        <source>Repaired by</source>
        <translation>Repariert durch</translation>
    </message>
    <message>
        <source>Severity</source>
        <translation>Schwere</translation>
    </message>
    <message>
        <source>What</source>
        <translation>Was</translation>
    </message>
    <message>
        <source>Where</source>
        <translation>Wo</translation>
    </message>
    <message>
        <source>collapsed</source>
        <translation>eingeklappt</translation>
    </message>
    <message>
        <source>expanded</source>
        <translation>ausgeklappt</translation>
    </message>
    <message>
        <source>other snapshots</source>
        <translation>andere Snapshots</translation>
    </message>
    <message>
        <source>snapshot {index}</source>
        <translation>Snapshot {index}</translation>
    </message>
    <message>
        <source>{count} – press Enter to list them</source>
        <translation>{count} – Eingabe listet sie auf</translation>
    </message>
    <message>
        <source>{count}, too many to be listed</source>
        <translation>{count}, zu viele zum Auflisten</translation>
    </message>
    <message>
        <source>{count}: they are being looked for…</source>
        <translation>{count}: Sie werden gesucht …</translation>
    </message>
</context>
<context>
    <name>FindingsPanel</name>
    <message>
        <source>No finding is shown.</source>
        <translation>Es wird kein Befund gezeigt.</translation>
    </message>
    <message>
        <source>No finding passes the filter.</source>
        <translation>Kein Befund passt zum Filter.</translation>
    </message>
    <message>
        <source>Nothing to report so far.</source>
        <translation>Bisher nichts zu berichten.</translation>
    </message>
    <message>
        <source>This finding is about no single place: {place}</source>
        <translation>Dieser Befund betrifft keine einzelne Stelle: {place}</translation>
    </message>
    <message>
        <source>{findings} listed</source>
        <translation>{findings} aufgelistet</translation>
    </message>
</context>
<context>
    <name>FindingsTable</name>
    <message>
        <source>Copy all that is shown</source>
        <translation>Alles Gezeigte kopieren</translation>
    </message>
    <message>
        <source>Copy rows</source>
        <translation>Zeilen kopieren</translation>
    </message>
    <message>
        <source>Findings</source>
        <translation>Befunde</translation>
    </message>
    <message>
        <source>List all of this kind</source>
        <translation>Alle dieser Art auflisten</translation>
    </message>
</context>
<context>
    <name>FolderField</name>
    <message>
        <source>Browse…</source>
        <translation>Durchsuchen …</translation>
    </message>
    <message>
        <source>{name}: browse</source>
        <translation>{name}: durchsuchen</translation>
    </message>
</context>
<context>
    <name>ForecastChart</name>
    <message>
        <source>Forecast: size against time</source>
        <translation>Prognose: Größe und Zeit</translation>
    </message>
    <message>
        <source>not compressed</source>
        <translation>nicht komprimiert</translation>
    </message>
</context>
<context>
    <name>ForecastPanel</name>
    <message>
        <source>A raw disk takes what is stored: nothing to forecast.</source>
        <translation>Eine rohe Platte braucht, was gespeichert ist: Da gibt es nichts vorherzusagen.</translation>
    </message>
    <message>
        <source>Forecast</source>
        <translation>Prognose</translation>
    </message>
    <message>
        <source>Forecast again</source>
        <translation>Neue Prognose</translation>
    </message>
    <message>
        <source>Progress of the forecast</source>
        <translation>Fortschritt der Prognose</translation>
    </message>
    <message>
        <source>Samples of the disk are being tried…</source>
        <translation>Proben der Platte werden probiert …</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Stopp</translation>
    </message>
    <message>
        <source>Take the settings of the selected row into the form</source>
        <translation>Die Einstellungen der gewählten Zeile ins Formular übernehmen</translation>
    </message>
    <message>
        <source>The settings of the form were not among what was tried.</source>
        <translation>Die Einstellungen des Formulars waren nicht unter dem, was probiert wurde.</translation>
    </message>
    <message>
        <source>Tries the types and levels on samples of the disk and shows how large and how quick each would be.</source>
        <translation>Probiert die Arten und Stufen an Proben der Platte und zeigt, wie groß und wie schnell jede wäre.</translation>
    </message>
    <message>
        <source>Use this</source>
        <translation>Übernehmen</translation>
    </message>
</context>
<context>
    <name>GoToDialog</name>
    <message>
        <source>Go</source>
        <translation>Los</translation>
    </message>
    <message>
        <source>Go to</source>
        <translation>Gehe zu</translation>
    </message>
    <message>
        <source>The image is not there.</source>
        <translation>Das Image ist nicht da.</translation>
    </message>
    <message>
        <source>Where to</source>
        <translation>Wohin</translation>
    </message>
</context>
<context>
    <name>HexFooter</name>
    <message>
        <source>Big-endian</source>
        <translation>Big-Endian</translation>
    </message>
    <message>
        <source>Can’t be read: {reason}</source>
        <translation>Nicht lesbar: {reason}</translation>
    </message>
    <message>
        <source>Little-endian</source>
        <translation>Little-Endian</translation>
    </message>
    <message>
        <source>Selected bytes</source>
        <translation>Ausgewählte Bytes</translation>
    </message>
    <message>
        <source>The first selected bytes as numbers</source>
        <translation>Die ersten ausgewählten Bytes als Zahlen</translation>
    </message>
    <message>
        <source>The order of bytes in numbers; qcow2’s own are big-endian throughout</source>
        <translation>Die Reihenfolge der Bytes in Zahlen; die von qcow2 selbst sind durchweg Big-Endian</translation>
    </message>
</context>
<context>
    <name>HexPainter</name>
    <message>
        <source>Offset</source>
        <translation>Offset</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>Text</translation>
    </message>
    <message>
        <source>{name} · cluster {index}</source>
        <translation>{name} · Cluster {index}</translation>
    </message>
</context>
<context>
    <name>HexPanel</name>
    <message>
        <source>Bytes</source>
        <translation>Bytes</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Kopiert</translation>
    </message>
    <message>
        <source>Copied; {lost} of it can’t be read and became zeros</source>
        <translation>Kopiert; {lost} davon sind nicht lesbar und wurden zu Nullen</translation>
    </message>
    <message>
        <source>Found, after going round the end</source>
        <translation>Gefunden, über das Ende hinweg von vorn</translation>
    </message>
    <message>
        <source>Go to offset</source>
        <translation>Gehe zu Offset</translation>
    </message>
    <message>
        <source>Not found</source>
        <translation>Nicht gefunden</translation>
    </message>
    <message>
        <source>Offset: 0x1_0000, 64k, +16</source>
        <translation>Offset: 0x1_0000, 64k, +16</translation>
    </message>
    <message>
        <source>Opening the guest’s disk…</source>
        <translation>Die Platte des Gasts wird geöffnet …</translation>
    </message>
    <message>
        <source>Search stopped</source>
        <translation>Suche angehalten</translation>
    </message>
    <message>
        <source>Searching… {share} (Esc stops)</source>
        <translation>Wird gesucht … {share} (Esc hält an)</translation>
    </message>
    <message>
        <source>The guest’s data can’t be shown: {reason}.</source>
        <translation>Die Daten des Gasts können nicht gezeigt werden: {reason}.</translation>
    </message>
    <message>
        <source>can’t be read: {reason}</source>
        <translation>nicht lesbar: {reason}</translation>
    </message>
    <message>
        <source>{size} are too many to copy; {limit} at once can be</source>
        <translation>{size} sind zu viel zum Kopieren; {limit} gehen auf einmal</translation>
    </message>
</context>
<context>
    <name>HexSearchBar</name>
    <message>
        <source>Find next (F3)</source>
        <translation>Weitersuchen (F3)</translation>
    </message>
    <message>
        <source>Find previous (Shift+F3)</source>
        <translation>Rückwärts suchen (Umschalt+F3)</translation>
    </message>
    <message>
        <source>Hex</source>
        <translation>Hex</translation>
    </message>
    <message>
        <source>Search bytes or text</source>
        <translation>Bytes oder Text suchen</translation>
    </message>
    <message>
        <source>Search for</source>
        <translation>Suchen nach</translation>
    </message>
    <message>
        <source>Search text</source>
        <translation>Text suchen</translation>
    </message>
    <message>
        <source>Search: 51 46 ?? fb</source>
        <translation>Suche: 51 46 ?? fb</translation>
    </message>
    <message>
        <source>Text, UTF-16</source>
        <translation>Text, UTF-16</translation>
    </message>
    <message>
        <source>Text, UTF-8</source>
        <translation>Text, UTF-8</translation>
    </message>
</context>
<context>
    <name>HexView</name>
    <message>
        <source>Copy as Base64</source>
        <translation>Als Base64 kopieren</translation>
    </message>
    <message>
        <source>Copy as C array</source>
        <translation>Als C-Array kopieren</translation>
    </message>
    <message>
        <source>Copy as Python bytes</source>
        <translation>Als Python-Bytes kopieren</translation>
    </message>
    <message>
        <source>Copy as hex</source>
        <translation>Als Hex kopieren</translation>
    </message>
    <message>
        <source>Copy as hex dump</source>
        <translation>Als Hexdump kopieren</translation>
    </message>
    <message>
        <source>Copy as text</source>
        <translation>Als Text kopieren</translation>
    </message>
    <message>
        <source>Select line (L)</source>
        <translation>Zeile auswählen (L)</translation>
    </message>
    <message>
        <source>Select the marked bytes</source>
        <translation>Die markierten Bytes auswählen</translation>
    </message>
    <message>
        <source>Select word (W)</source>
        <translation>Wort auswählen (W)</translation>
    </message>
    <message>
        <source>no bytes</source>
        <translation>keine Bytes</translation>
    </message>
</context>
<context>
    <name>HintsBanner</name>
    <message>
        <source>Next hint, this is {place}</source>
        <translation>Nächster Hinweis, dies ist {place}</translation>
    </message>
    <message>
        <source>{number} of {count}</source>
        <translation>{number} von {count}</translation>
    </message>
</context>
<context>
    <name>ImageTabs</name>
    <message>
        <source>Close tab</source>
        <translation>Tab schließen</translation>
    </message>
    <message>
        <source>Close {name}</source>
        <translation>{name} schließen</translation>
    </message>
</context>
<context>
    <name>ImageView</name>
    <message>
        <source>({more}, listed in the findings)</source>
        <translation>({more}, aufgeführt unter den Befunden)</translation>
    </message>
    <message>
        <source>Backing chain</source>
        <translation>Backing-Kette</translation>
    </message>
    <message>
        <source>Benchmark</source>
        <translation>Benchmark</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>Vergleichen</translation>
    </message>
    <message>
        <source>Convert to qcow2…</source>
        <translation>In qcow2 konvertieren …</translation>
    </message>
    <message>
        <source>Map</source>
        <translation>Karte</translation>
    </message>
    <message>
        <source>QEMU would refuse this image</source>
        <translation>QEMU würde dieses Image ablehnen</translation>
    </message>
    <message>
        <source>Reading {name}…</source>
        <translation>{name} wird gelesen …</translation>
    </message>
    <message>
        <source>Salvage…</source>
        <translation>Retten …</translation>
    </message>
    <message>
        <source>Table</source>
        <translation>Tabelle</translation>
    </message>
    <message>
        <source>This is no image that can be shown; its bytes are in the Hex panel below.</source>
        <translation>Das ist kein Image, das gezeigt werden kann; seine Bytes stehen unten unter Hex.</translation>
    </message>
    <message>
        <source>This program can still read its guest data.</source>
        <translation>Dieses Programm kann die Daten des Gasts trotzdem lesen.</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Erneut versuchen</translation>
    </message>
    <message>
        <source>What the header says is shown below; guest data can&apos;t be read from this image.</source>
        <translation>Was der Header sagt, steht unten; die Daten des Gasts können aus diesem Image nicht gelesen werden.</translation>
    </message>
    <message>
        <source>{name} can&apos;t be shown</source>
        <translation>{name} kann nicht gezeigt werden</translation>
    </message>
    <message>
        <source>{name} is not a qcow2 image</source>
        <translation>{name} ist kein qcow2-Image</translation>
    </message>
</context>
<context>
    <name>Inspector</name>
    <message>
        <source>Copy everything that is said here</source>
        <translation>Alles kopieren, was hier steht</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>Einzelheiten</translation>
    </message>
    <message>
        <source>Inspector</source>
        <translation>Inspektor</translation>
    </message>
    <message>
        <source>Next entry</source>
        <translation>Nächster Eintrag</translation>
    </message>
    <message>
        <source>Nothing to inspect yet</source>
        <translation>Noch nichts zu betrachten</translation>
    </message>
    <message>
        <source>Owners</source>
        <translation>Besitzer</translation>
    </message>
    <message>
        <source>Previous entry</source>
        <translation>Voriger Eintrag</translation>
    </message>
    <message>
        <source>Source</source>
        <translation>Quelle</translation>
    </message>
    <message>
        <source>What is selected</source>
        <translation>Was ausgewählt ist</translation>
    </message>
    <message>
        <source>What it says</source>
        <translation>Was es sagt</translation>
    </message>
</context>
<context>
    <name>JobRow</name>
    <message>
        <source>Allow…</source>
        <translation>Erlauben …</translation>
    </message>
    <message>
        <source>Begin again</source>
        <translation>Neu beginnen</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Continue with zeros where the source can’t be read, and list the losses</source>
        <translation>Mit Nullen weitermachen, wo die Quelle nicht lesbar ist, und die Verluste auflisten</translation>
    </message>
    <message>
        <source>Copy as qcowgui command</source>
        <translation>Als qcowgui-Befehl kopieren</translation>
    </message>
    <message>
        <source>Copy as qemu-img command</source>
        <translation>Als qemu-img-Befehl kopieren</translation>
    </message>
    <message>
        <source>Copy details</source>
        <translation>Einzelheiten kopieren</translation>
    </message>
    <message>
        <source>Copy lost ranges</source>
        <translation>Verlorene Bereiche kopieren</translation>
    </message>
    <message>
        <source>Copy this row</source>
        <translation>Diese Zeile kopieren</translation>
    </message>
    <message>
        <source>Drag the file out of here to wherever it is wanted.</source>
        <translation>Ziehen Sie die Datei von hier dorthin, wo sie gebraucht wird.</translation>
    </message>
    <message>
        <source>Inspect result</source>
        <translation>Ergebnis ansehen</translation>
    </message>
    <message>
        <source>Inspect source</source>
        <translation>Quelle ansehen</translation>
    </message>
    <message>
        <source>More about this conversion</source>
        <translation>Mehr zu dieser Konvertierung</translation>
    </message>
    <message>
        <source>Open folder</source>
        <translation>Ordner öffnen</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pause</translation>
    </message>
    <message>
        <source>Progress of converting</source>
        <translation>Fortschritt der Konvertierung</translation>
    </message>
    <message>
        <source>Progress of verifying</source>
        <translation>Fortschritt der Überprüfung</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>Run earlier</source>
        <translation>Früher ausführen</translation>
    </message>
    <message>
        <source>Run later</source>
        <translation>Später ausführen</translation>
    </message>
    <message>
        <source>Salvage</source>
        <translation>Retten</translation>
    </message>
    <message>
        <source>Settings…</source>
        <translation>Einstellungen …</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Erneut versuchen</translation>
    </message>
</context>
<context>
    <name>KeyboardDialog</name>
    <message>
        <source>Keyboard</source>
        <translation>Tastatur</translation>
    </message>
    <message>
        <source>Keys</source>
        <translation>Tasten</translation>
    </message>
</context>
<context>
    <name>KnownFields</name>
    <message>
        <source>Cluster size of the damaged image</source>
        <translation>Clustergröße des beschädigten Images</translation>
    </message>
    <message>
        <source>Compression of the damaged image</source>
        <translation>Kompression des beschädigten Images</translation>
    </message>
    <message>
        <source>Search again</source>
        <translation>Erneut suchen</translation>
    </message>
    <message>
        <source>The virtual disk&apos;s size, such as 20G</source>
        <translation>Die Größe der virtuellen Platte, etwa 20G</translation>
    </message>
    <message>
        <source>Virtual size of the damaged image</source>
        <translation>Virtuelle Größe des beschädigten Images</translation>
    </message>
    <message>
        <source>What you know better:</source>
        <translation>Was Sie besser wissen:</translation>
    </message>
    <message>
        <source>clusters of {size}</source>
        <translation>Cluster von {size}</translation>
    </message>
    <message>
        <source>clusters: as found</source>
        <translation>Cluster: wie gefunden</translation>
    </message>
    <message>
        <source>compression: as found</source>
        <translation>Kompression: wie gefunden</translation>
    </message>
    <message>
        <source>size: as found</source>
        <translation>Größe: wie gefunden</translation>
    </message>
</context>
<context>
    <name>Lack</name>
    <message>
        <source>No fonts are installed: no text can be shown. Install one, such as DejaVu Sans.</source>
        <translation>Es sind keine Schriften installiert: Es kann kein Text gezeigt werden. Installieren Sie eine, etwa DejaVu Sans.</translation>
    </message>
    <message>
        <source>The locale’s encoding is {encoding}: files whose names have other characters may not be found. Start with a UTF-8 locale, as with LC_ALL=C.UTF-8.</source>
        <translation>Die Kodierung der Locale ist {encoding}: Dateien, deren Namen andere Zeichen enthalten, werden vielleicht nicht gefunden. Starten Sie mit einer UTF-8-Locale, etwa mit LC_ALL=C.UTF-8.</translation>
    </message>
    <message>
        <source>There is no session bus: the window can’t follow the desktop’s colours.</source>
        <translation>Es gibt keinen Sitzungsbus: Das Fenster kann den Farben des Desktops nicht folgen.</translation>
    </message>
</context>
<context>
    <name>Legend</name>
    <message>
        <source>Click: only this state. Double click: hide it.</source>
        <translation>Klick: nur dieser Zustand. Doppelklick: ausblenden.</translation>
    </message>
    <message>
        <source>Clusters</source>
        <translation>Cluster</translation>
    </message>
    <message>
        <source>Legend: states, clusters and sizes</source>
        <translation>Legende: Zustände, Cluster und Größen</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>State</source>
        <translation>Zustand</translation>
    </message>
</context>
<context>
    <name>LiveFile</name>
    <message>
        <source>It is in use: what is shown is as it was, and may not fit together.</source>
        <translation>Die Datei wird benutzt: Gezeigt wird der Stand beim Lesen, der nicht zusammenpassen muss.</translation>
    </message>
    <message>
        <source>It was moved, renamed or deleted. What is shown is as it was when it was read.</source>
        <translation>Die Datei wurde verschoben, umbenannt oder gelöscht. Gezeigt wird der Stand beim Lesen.</translation>
    </message>
    <message>
        <source>Read again</source>
        <translation>Neu lesen</translation>
    </message>
    <message>
        <source>The file can’t be looked at any more</source>
        <translation>Die Datei kann nicht mehr betrachtet werden</translation>
    </message>
    <message>
        <source>The file is no longer there</source>
        <translation>Die Datei ist nicht mehr da</translation>
    </message>
    <message>
        <source>The file was changed on disk</source>
        <translation>Die Datei wurde auf der Festplatte geändert</translation>
    </message>
    <message>
        <source>The file was changed on disk and read again at {time}</source>
        <translation>Die Datei wurde auf der Festplatte geändert und um {time} neu gelesen</translation>
    </message>
    <message>
        <source>The file was cut short on disk</source>
        <translation>Die Datei wurde auf der Festplatte gekürzt</translation>
    </message>
    <message>
        <source>What is shown is as it was when it was read.</source>
        <translation>Gezeigt wird der Stand beim Lesen.</translation>
    </message>
    <message>
        <source>What is shown is as it was; bytes at its end are gone.</source>
        <translation>Gezeigt wird der Stand beim Lesen; Bytes am Ende fehlen jetzt.</translation>
    </message>
</context>
<context>
    <name>LogPanel</name>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Copy the lines that are shown</source>
        <translation>Die gezeigten Zeilen kopieren</translation>
    </message>
    <message>
        <source>Filter</source>
        <translation>Filter</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>Protokoll</translation>
    </message>
    <message>
        <source>Nothing has happened yet.</source>
        <translation>Noch ist nichts geschehen.</translation>
    </message>
    <message>
        <source>Only lines with these words</source>
        <translation>Nur Zeilen mit diesen Wörtern</translation>
    </message>
    <message>
        <source>Problems only</source>
        <translation>Nur Probleme</translation>
    </message>
</context>
<context>
    <name>MainWindow</name>
    <message>
        <source>A copy of this image is being written: stop that first.</source>
        <translation>Eine Kopie dieses Images wird geschrieben: Halten Sie das zuerst an.</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>Alle Dateien (*)</translation>
    </message>
    <message>
        <source>Commands</source>
        <translation>Befehle</translation>
    </message>
    <message>
        <source>Images are opened for reading only: whatever writes asks for a new file.</source>
        <translation>Images werden nur zum Lesen geöffnet: Was schreibt, fragt nach einer neuen Datei.</translation>
    </message>
    <message>
        <source>Not everything that was dropped can be opened</source>
        <translation>Nicht alles, was abgelegt wurde, kann geöffnet werden</translation>
    </message>
    <message>
        <source>Open &amp;recent</source>
        <translation>&amp;Zuletzt geöffnet</translation>
    </message>
    <message>
        <source>Open disk images</source>
        <translation>Disk-Images öffnen</translation>
    </message>
    <message>
        <source>Report written: {files}</source>
        <translation>Bericht geschrieben: {files}</translation>
    </message>
    <message>
        <source>The samples can’t be made</source>
        <translation>Die Beispiele können nicht erzeugt werden</translation>
    </message>
    <message>
        <source>qcow2 images (*.qcow2 *.qcow *.img)</source>
        <translation>qcow2-Images (*.qcow2 *.qcow *.img)</translation>
    </message>
    <message>
        <source>read-only</source>
        <translation>schreibgeschützt</translation>
    </message>
</context>
<context>
    <name>ManualBrowser</name>
    <message>
        <source>Page of the manual</source>
        <translation>Seite des Handbuchs</translation>
    </message>
</context>
<context>
    <name>ManualDialog</name>
    <message>
        <source>Back</source>
        <translation>Zurück</translation>
    </message>
    <message>
        <source>Contents of the manual</source>
        <translation>Inhalt des Handbuchs</translation>
    </message>
    <message>
        <source>Forward</source>
        <translation>Vor</translation>
    </message>
    <message>
        <source>Manual</source>
        <translation>Handbuch</translation>
    </message>
    <message>
        <source>Nothing found</source>
        <translation>Nichts gefunden</translation>
    </message>
    <message>
        <source>Search the manual</source>
        <translation>Im Handbuch suchen</translation>
    </message>
    <message>
        <source>{page} – Manual</source>
        <translation>{page} – Handbuch</translation>
    </message>
</context>
<context>
    <name>MapPane</name>
    <message>
        <source> · {clusters} of {size}</source>
        <translation> · {clusters} von {size}</translation>
    </message>
    <message>
        <source> · {mode}: working…</source>
        <translation> · {mode}: in Arbeit …</translation>
    </message>
    <message>
        <source> · ◥ has findings</source>
        <translation> · ◥ hat Befunde</translation>
    </message>
    <message>
        <source>Checking… {share}</source>
        <translation>Wird geprüft … {share}</translation>
    </message>
    <message>
        <source>File</source>
        <translation>Datei</translation>
    </message>
    <message>
        <source>Guest’s disk</source>
        <translation>Platte des Gasts</translation>
    </message>
    <message>
        <source>Map of the file’s clusters</source>
        <translation>Karte der Cluster der Datei</translation>
    </message>
    <message>
        <source>Map of the guest’s disk</source>
        <translation>Karte der Platte des Gasts</translation>
    </message>
    <message>
        <source>Part of the image</source>
        <translation>Teil des Images</translation>
    </message>
    <message>
        <source>Part {number} of {count}</source>
        <translation>Teil {number} von {count}</translation>
    </message>
    <message>
        <source>Reading the tables…</source>
        <translation>Tabellen werden gelesen …</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Stopp</translation>
    </message>
    <message>
        <source>The check did not finish: there is no map.</source>
        <translation>Die Prüfung wurde nicht fertig: Es gibt keine Karte.</translation>
    </message>
    <message>
        <source>This image can’t be mapped; the findings say why.</source>
        <translation>Von diesem Image gibt es keine Karte; die Befunde sagen, warum.</translation>
    </message>
    <message>
        <source>{mode}: {share}</source>
        <translation>{mode}: {share}</translation>
    </message>
</context>
<context>
    <name>MapTools</name>
    <message>
        <source>Along a Hilbert curve: neighbours stay together</source>
        <translation>Entlang einer Hilbertkurve: Nachbarn bleiben beisammen</translation>
    </message>
    <message>
        <source>Both</source>
        <translation>Beide</translation>
    </message>
    <message>
        <source>Both, beside each other</source>
        <translation>Beide, nebeneinander</translation>
    </message>
    <message>
        <source>Colour by</source>
        <translation>Farbe nach</translation>
    </message>
    <message>
        <source>Colour: {mode}</source>
        <translation>Farbe: {mode}</translation>
    </message>
    <message>
        <source>Every cluster on its own (1)</source>
        <translation>Jeder Cluster einzeln (1)</translation>
    </message>
    <message>
        <source>File</source>
        <translation>Datei</translation>
    </message>
    <message>
        <source>Guest</source>
        <translation>Gast</translation>
    </message>
    <message>
        <source>Hilbert</source>
        <translation>Hilbert</translation>
    </message>
    <message>
        <source>Linear</source>
        <translation>Linear</translation>
    </message>
    <message>
        <source>Map tools</source>
        <translation>Werkzeuge der Karte</translation>
    </message>
    <message>
        <source>Row by row</source>
        <translation>Zeile für Zeile</translation>
    </message>
    <message>
        <source>Save as a picture…</source>
        <translation>Als Bild speichern …</translation>
    </message>
    <message>
        <source>Show everything (0)</source>
        <translation>Alles zeigen (0)</translation>
    </message>
    <message>
        <source>The file’s clusters</source>
        <translation>Die Cluster der Datei</translation>
    </message>
    <message>
        <source>The guest’s disk</source>
        <translation>Die Platte des Gasts</translation>
    </message>
    <message>
        <source>What the clusters are coloured by</source>
        <translation>Wonach die Cluster gefärbt sind</translation>
    </message>
    <message>
        <source>Zoom in (+)</source>
        <translation>Vergrößern (+)</translation>
    </message>
    <message>
        <source>Zoom out (-)</source>
        <translation>Verkleinern (-)</translation>
    </message>
</context>
<context>
    <name>MapView</name>
    <message>
        <source>All states</source>
        <translation>Alle Zustände</translation>
    </message>
    <message>
        <source>Bytes</source>
        <translation>Bytes</translation>
    </message>
    <message>
        <source>Clusters</source>
        <translation>Cluster</translation>
    </message>
    <message>
        <source>Copy as a row</source>
        <translation>Als Zeile kopieren</translation>
    </message>
    <message>
        <source>Copy cluster</source>
        <translation>Cluster kopieren</translation>
    </message>
    <message>
        <source>Copy legend</source>
        <translation>Legende kopieren</translation>
    </message>
    <message>
        <source>No other cluster: {state}</source>
        <translation>Kein weiterer Cluster: {state}</translation>
    </message>
    <message>
        <source>Only this state</source>
        <translation>Nur dieser Zustand</translation>
    </message>
    <message>
        <source>PNG image (*.png)</source>
        <translation>PNG-Bild (*.png)</translation>
    </message>
    <message>
        <source>SVG image (*.svg)</source>
        <translation>SVG-Bild (*.svg)</translation>
    </message>
    <message>
        <source>Save as a picture…</source>
        <translation>Als Bild speichern …</translation>
    </message>
    <message>
        <source>Save the map</source>
        <translation>Karte speichern</translation>
    </message>
    <message>
        <source>Saved {path}</source>
        <translation>{path} gespeichert</translation>
    </message>
    <message>
        <source>State</source>
        <translation>Zustand</translation>
    </message>
    <message>
        <source>{count} clusters</source>
        <translation>{count} Cluster</translation>
    </message>
</context>
<context>
    <name>MixedMarks</name>
    <message>
        <source>several</source>
        <translation>verschieden</translation>
    </message>
</context>
<context>
    <name>QueueBar</name>
    <message>
        <source>Cancel all</source>
        <translation>Alle abbrechen</translation>
    </message>
    <message>
        <source>Convert…</source>
        <translation>Konvertieren …</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pause</translation>
    </message>
    <message>
        <source>Progress of all conversions</source>
        <translation>Fortschritt aller Konvertierungen</translation>
    </message>
    <message>
        <source>Remove finished</source>
        <translation>Fertige entfernen</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>Resume all</source>
        <translation>Alle fortsetzen</translation>
    </message>
</context>
<context>
    <name>RangesModel</name>
    <message>
        <source>Clusters</source>
        <translation>Cluster</translation>
    </message>
    <message>
        <source>First cluster</source>
        <translation>Erster Cluster</translation>
    </message>
    <message>
        <source>Offset</source>
        <translation>Offset</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>State</source>
        <translation>Zustand</translation>
    </message>
</context>
<context>
    <name>RangesTable</name>
    <message>
        <source>Ranges of clusters by state</source>
        <translation>Bereiche von Clustern nach Zustand</translation>
    </message>
</context>
<context>
    <name>RecentFiles</name>
    <message>
        <source>Clear list</source>
        <translation>Liste leeren</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>Recent files</source>
        <translation>Zuletzt geöffnete Dateien</translation>
    </message>
    <message>
        <source>Remove from list</source>
        <translation>Aus der Liste entfernen</translation>
    </message>
</context>
<context>
    <name>RepairDialog</name>
    <message>
        <source>(behind the end)</source>
        <translation>(hinter dem Ende)</translation>
    </message>
    <message>
        <source>After</source>
        <translation>Nachher</translation>
    </message>
    <message>
        <source>Afterwards: {verdict}</source>
        <translation>Danach: {verdict}</translation>
    </message>
    <message>
        <source>All that can be decided</source>
        <translation>Alles, was entschieden werden kann</translation>
    </message>
    <message>
        <source>Before</source>
        <translation>Vorher</translation>
    </message>
    <message>
        <source>Before and after</source>
        <translation>Vorher und nachher</translation>
    </message>
    <message>
        <source>Before and after  {count}</source>
        <translation>Vorher und nachher  {count}</translation>
    </message>
    <message>
        <source>Changes</source>
        <translation>Änderungen</translation>
    </message>
    <message>
        <source>Checked again after it was written. The edits changed {written}; {source} itself is as it was.</source>
        <translation>Nach dem Schreiben erneut geprüft. Die Änderungen betrafen {written}; {source} selbst ist, wie es war.</translation>
    </message>
    <message>
        <source>Checking the copy before it takes its name…</source>
        <translation>Die Kopie wird geprüft, bevor sie ihren Namen bekommt …</translation>
    </message>
    <message>
        <source>Code</source>
        <translation>Code</translation>
    </message>
    <message>
        <source>Compare every guest byte</source>
        <translation>Jedes Byte des Gasts vergleichen</translation>
    </message>
    <message>
        <source>Decode compressed clusters</source>
        <translation>Komprimierte Cluster dekodieren</translation>
    </message>
    <message>
        <source>Finds wrong sector counts, and puts them right</source>
        <translation>Findet falsche Sektorzahlen und berichtigt sie</translation>
    </message>
    <message>
        <source>Frees clusters that nothing refers to although they may hold what lost tables
mapped. Look for the tables with Salvage first.</source>
        <translation>Gibt Cluster frei, auf die nichts verweist, obwohl sie enthalten können, was verlorene Tabellen
abbildeten. Suchen Sie die Tabellen zuerst mit „Retten“.</translation>
    </message>
    <message>
        <source>Give back space even if tables are lost</source>
        <translation>Platz freigeben, auch wenn Tabellen verloren sind</translation>
    </message>
    <message>
        <source>Left as it is</source>
        <translation>So gelassen</translation>
    </message>
    <message>
        <source>No copy was written</source>
        <translation>Es wurde keine Kopie geschrieben</translation>
    </message>
    <message>
        <source>No plan was made</source>
        <translation>Es wurde kein Plan gemacht</translation>
    </message>
    <message>
        <source>Notes, and what is left  {count}</source>
        <translation>Anmerkungen, und was bleibt  {count}</translation>
    </message>
    <message>
        <source>Nothing can be repaired: the copy would be the same.</source>
        <translation>Nichts kann repariert werden: Die Kopie wäre dieselbe.</translation>
    </message>
    <message>
        <source>Now: {verdict}</source>
        <translation>Jetzt: {verdict}</translation>
    </message>
    <message>
        <source>Offset</source>
        <translation>Offset</translation>
    </message>
    <message>
        <source>Only refcounts that are too high</source>
        <translation>Nur zu hohe Refcounts</translation>
    </message>
    <message>
        <source>Open the copy</source>
        <translation>Kopie öffnen</translation>
    </message>
    <message>
        <source>Plan again</source>
        <translation>Neu planen</translation>
    </message>
    <message>
        <source>Planning the repair, and proving the plan in memory…</source>
        <translation>Die Reparatur wird geplant und der Plan im Speicher bewiesen …</translation>
    </message>
    <message>
        <source>Proves the plan on the whole disk, not only on what edited entries map</source>
        <translation>Beweist den Plan an der ganzen Platte, nicht nur an dem, was geänderte Einträge abbilden</translation>
    </message>
    <message>
        <source>Repair {name} as a copy</source>
        <translation>{name} als Kopie reparieren</translation>
    </message>
    <message>
        <source>Repaired copy</source>
        <translation>Reparierte Kopie</translation>
    </message>
    <message>
        <source>Salvage…</source>
        <translation>Retten …</translation>
    </message>
    <message>
        <source>The file to make</source>
        <translation>Die Datei, die entsteht</translation>
    </message>
    <message>
        <source>The image is not there.</source>
        <translation>Das Image ist nicht da.</translation>
    </message>
    <message>
        <source>There are more; qcowgui repair --plan lists them all.</source>
        <translation>Es gibt mehr; qcowgui repair --plan listet alle auf.</translation>
    </message>
    <message>
        <source>What is repaired</source>
        <translation>Was repariert wird</translation>
    </message>
    <message>
        <source>What is repaired  {count}</source>
        <translation>Was repariert wird  {count}</translation>
    </message>
    <message>
        <source>What to repair</source>
        <translation>Was zu reparieren ist</translation>
    </message>
    <message>
        <source>What was wrong</source>
        <translation>Was falsch war</translation>
    </message>
    <message>
        <source>Why</source>
        <translation>Warum</translation>
    </message>
    <message>
        <source>Write the repaired copy</source>
        <translation>Reparierte Kopie schreiben</translation>
    </message>
    <message>
        <source>Writing: {done} of {total}</source>
        <translation>Wird geschrieben: {done} von {total}</translation>
    </message>
    <message>
        <source>{name} is written: {verdict}</source>
        <translation>{name} ist geschrieben: {verdict}</translation>
    </message>
</context>
<context>
    <name>ReplaceBox</name>
    <message>
        <source>Replace</source>
        <translation>Ersetzen</translation>
    </message>
    <message>
        <source>Replace the file?</source>
        <translation>Datei ersetzen?</translation>
    </message>
    <message>
        <source>Replace the files?</source>
        <translation>Dateien ersetzen?</translation>
    </message>
    <message>
        <source>Until then, and when writing fails, it stays as it is.</source>
        <translation>Bis dahin, und wenn das Schreiben scheitert, bleibt sie, wie sie ist.</translation>
    </message>
    <message>
        <source>Until then, and when writing fails, they stay as they are.</source>
        <translation>Bis dahin, und wenn das Schreiben scheitert, bleiben sie, wie sie sind.</translation>
    </message>
    <message>
        <source>{count} files exist. Replace each once the new one is complete?</source>
        <translation>{count} Dateien sind vorhanden. Jede ersetzen, sobald die neue vollständig ist?</translation>
    </message>
    <message>
        <source>{name} exists. Replace it once the new one is complete?</source>
        <translation>{name} ist vorhanden. Ersetzen, sobald die neue Datei vollständig ist?</translation>
    </message>
</context>
<context>
    <name>ReportExport</name>
    <message>
        <source>Export report</source>
        <translation>Bericht exportieren</translation>
    </message>
    <message>
        <source>HTML page alone (*.html)</source>
        <translation>Nur HTML-Seite (*.html)</translation>
    </message>
    <message>
        <source>HTML page, with JSON beside it (*.html)</source>
        <translation>HTML-Seite, mit JSON daneben (*.html)</translation>
    </message>
    <message>
        <source>JSON alone (*.json)</source>
        <translation>Nur JSON (*.json)</translation>
    </message>
    <message>
        <source>Page alone</source>
        <translation>Nur die Seite</translation>
    </message>
    <message>
        <source>Replace</source>
        <translation>Ersetzen</translation>
    </message>
    <message>
        <source>{name} exists already. Replace it, too?</source>
        <translation>{name} ist schon vorhanden. Auch ersetzen?</translation>
    </message>
</context>
<context>
    <name>SalvageDialog</name>
    <message>
        <source>About this candidate</source>
        <translation>Zu diesem Kandidaten</translation>
    </message>
    <message>
        <source>Backing file</source>
        <translation>Backing-Datei</translation>
    </message>
    <message>
        <source>Candidates</source>
        <translation>Kandidaten</translation>
    </message>
    <message>
        <source>Choose a name for the new image</source>
        <translation>Namen für das neue Image wählen</translation>
    </message>
    <message>
        <source>Compression of the new image</source>
        <translation>Kompression des neuen Images</translation>
    </message>
    <message>
        <source>Format of the new image</source>
        <translation>Format des neuen Images</translation>
    </message>
    <message>
        <source>Known losses  {count}</source>
        <translation>Bekannte Verluste  {count}</translation>
    </message>
    <message>
        <source>Looking for tables…</source>
        <translation>Tabellen werden gesucht …</translation>
    </message>
    <message>
        <source>Losses</source>
        <translation>Verluste</translation>
    </message>
    <message>
        <source>Losses  {count}</source>
        <translation>Verluste  {count}</translation>
    </message>
    <message>
        <source>New image</source>
        <translation>Neues Image</translation>
    </message>
    <message>
        <source>Nothing was written</source>
        <translation>Nichts wurde geschrieben</translation>
    </message>
    <message>
        <source>Open the result</source>
        <translation>Ergebnis öffnen</translation>
    </message>
    <message>
        <source>Salvage {name}</source>
        <translation>{name} retten</translation>
    </message>
    <message>
        <source>Searching: {done} of {total}</source>
        <translation>Wird gesucht: {done} von {total}</translation>
    </message>
    <message>
        <source>The file is not there</source>
        <translation>Die Datei ist nicht da</translation>
    </message>
    <message>
        <source>The file to make</source>
        <translation>Die Datei, die entsteht</translation>
    </message>
    <message>
        <source>The header names one; without it, what it held is lost</source>
        <translation>Der Header nennt eine; ohne sie ist verloren, was sie enthielt</translation>
    </message>
    <message>
        <source>The lost image&apos;s backing file, if it had one</source>
        <translation>Die Backing-Datei des verlorenen Images, wenn es eine hatte</translation>
    </message>
    <message>
        <source>The search failed</source>
        <translation>Die Suche ist gescheitert</translation>
    </message>
    <message>
        <source>This is no size</source>
        <translation>Das ist keine Größe</translation>
    </message>
    <message>
        <source>What is lost reads as zeros; the list is also in {name}.</source>
        <translation>Was verloren ist, liest sich als Nullen; die Liste steht auch in {name}.</translation>
    </message>
    <message>
        <source>Write the new image</source>
        <translation>Das neue Image schreiben</translation>
    </message>
    <message>
        <source>not compressed</source>
        <translation>nicht komprimiert</translation>
    </message>
    <message>
        <source>{name} is written; all that this candidate maps could be read</source>
        <translation>{name} ist geschrieben; alles, was dieser Kandidat abbildet, war lesbar</translation>
    </message>
    <message>
        <source>{name} is written; {lost} could not be read</source>
        <translation>{name} ist geschrieben; {lost} waren nicht lesbar</translation>
    </message>
    <message>
        <source>{size} virtual, a file of {file}, read again and compared.</source>
        <translation>{size} virtuell, eine Datei von {file}, erneut gelesen und verglichen.</translation>
    </message>
</context>
<context>
    <name>Scout</name>
    <message>
        <source>A forecast needs {names}: allow it first.</source>
        <translation>Eine Prognose braucht {names}: Erlauben Sie das zuerst.</translation>
    </message>
</context>
<context>
    <name>Session</name>
    <message>
        <source>the program made a mistake</source>
        <translation>das Programm hat einen Fehler gemacht</translation>
    </message>
</context>
<context>
    <name>Settings</name>
    <message>
        <source>The settings can’t be kept: {path} can’t be written.</source>
        <translation>Die Einstellungen können nicht bewahrt werden: {path} kann nicht geschrieben werden.</translation>
    </message>
    <message>
        <source>The settings in {path} are damaged: what can’t be read of them has its default.</source>
        <translation>Die Einstellungen in {path} sind beschädigt: Was davon nicht lesbar ist, hat den Vorgabewert.</translation>
    </message>
</context>
<context>
    <name>SettingsColumn</name>
    <message>
        <source>More settings</source>
        <translation>Weitere Einstellungen</translation>
    </message>
</context>
<context>
    <name>SettingsDialog</name>
    <message>
        <source>A colour for each state</source>
        <translation>Für jeden Zustand eine Farbe</translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation>Aussehen</translation>
    </message>
    <message>
        <source>As the system</source>
        <translation>Wie das System</translation>
    </message>
    <message>
        <source>Begin with</source>
        <translation>Beginnen mit</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>Dunkel</translation>
    </message>
    <message>
        <source>Everything holds at once. A conversion’s own settings win over these.</source>
        <translation>Alles gilt sofort. Die eigenen Einstellungen einer Konvertierung haben Vorrang.</translation>
    </message>
    <message>
        <source>Folder for results</source>
        <translation>Ordner für Ergebnisse</translation>
    </message>
    <message>
        <source>Folder with images</source>
        <translation>Ordner mit Images</translation>
    </message>
    <message>
        <source>Greys; only problems in colour</source>
        <translation>Grautöne; nur Probleme in Farbe</translation>
    </message>
    <message>
        <source>Images are in</source>
        <translation>Images liegen in</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>Sprache</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>Hell</translation>
    </message>
    <message>
        <source>Map</source>
        <translation>Karte</translation>
    </message>
    <message>
        <source>New conversions</source>
        <translation>Neue Konvertierungen</translation>
    </message>
    <message>
        <source>Opening</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>Results go to</source>
        <translation>Ergebnisse nach</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>The one that was used last</source>
        <translation>Die zuletzt benutzte</translation>
    </message>
    <message>
        <source>Theme</source>
        <translation>Farbschema</translation>
    </message>
    <message>
        <source>Threads</source>
        <translation>Threads</translation>
    </message>
    <message>
        <source>Verify: read each result again and compare it</source>
        <translation>Überprüfen: jedes Ergebnis erneut lesen und vergleichen</translation>
    </message>
    <message>
        <source>as the last time; at first beside the source</source>
        <translation>wie beim letzten Mal; zuerst neben der Quelle</translation>
    </message>
    <message>
        <source>one for each core ({count})</source>
        <translation>einer je Kern ({count})</translation>
    </message>
    <message>
        <source>where the last image was</source>
        <translation>wo das letzte Image war</translation>
    </message>
</context>
<context>
    <name>SidePanel</name>
    <message>
        <source>Legend</source>
        <translation>Legende</translation>
    </message>
    <message>
        <source>Ranges</source>
        <translation>Bereiche</translation>
    </message>
</context>
<context>
    <name>SourceSection</name>
    <message>
        <source>Add files…</source>
        <translation>Dateien hinzufügen …</translation>
    </message>
    <message>
        <source>Allow…</source>
        <translation>Erlauben …</translation>
    </message>
    <message>
        <source>Also reads {names}, as you allowed.</source>
        <translation>Liest auch {names}, wie von Ihnen erlaubt.</translation>
    </message>
    <message>
        <source>Choose files…</source>
        <translation>Dateien wählen …</translation>
    </message>
    <message>
        <source>Folder with images</source>
        <translation>Ordner mit Images</translation>
    </message>
    <message>
        <source>Folder…</source>
        <translation>Ordner …</translation>
    </message>
    <message>
        <source>Images to convert</source>
        <translation>Zu konvertierende Images</translation>
    </message>
    <message>
        <source>Refers to {names}: read only if you allow it.</source>
        <translation>Verweist auf {names}: wird nur gelesen, wenn Sie es erlauben.</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
    <message>
        <source>Source</source>
        <translation>Quelle</translation>
    </message>
    <message>
        <source>Take the selected images off this list</source>
        <translation>Die ausgewählten Images aus dieser Liste nehmen</translation>
    </message>
    <message>
        <source>The image to read; it is not changed</source>
        <translation>Das Image, das gelesen wird; es wird nicht geändert</translation>
    </message>
    <message>
        <source>The settings are for all {count} images.</source>
        <translation>Die Einstellungen gelten für alle {count} Images.</translation>
    </message>
    <message>
        <source>The settings are for the selected image alone, of {all}.</source>
        <translation>Die Einstellungen gelten nur für das ausgewählte Image, von {all}.</translation>
    </message>
    <message>
        <source>The settings are for the {count} selected images of {all}.</source>
        <translation>Die Einstellungen gelten für die {count} ausgewählten von {all} Images.</translation>
    </message>
</context>
<context>
    <name>SpaceSwitch</name>
    <message>
        <source>Active disk</source>
        <translation>Aktive Platte</translation>
    </message>
    <message>
        <source>File</source>
        <translation>Datei</translation>
    </message>
    <message>
        <source>Guest disk</source>
        <translation>Platte des Gasts</translation>
    </message>
    <message>
        <source>Guest disk: {name}</source>
        <translation>Platte des Gasts: {name}</translation>
    </message>
    <message>
        <source>The bytes of the image file</source>
        <translation>Die Bytes der Imagedatei</translation>
    </message>
    <message>
        <source>The bytes that the guest sees, decoded</source>
        <translation>Die Bytes, die der Gast sieht, dekodiert</translation>
    </message>
</context>
<context>
    <name>StartPage</name>
    <message>
        <source>Compressed</source>
        <translation>Komprimiert</translation>
    </message>
    <message>
        <source>Convert…</source>
        <translation>Konvertieren …</translation>
    </message>
    <message>
        <source>Damaged</source>
        <translation>Beschädigt</translation>
    </message>
    <message>
        <source>Drop disk images here</source>
        <translation>Disk-Images hier ablegen</translation>
    </message>
    <message>
        <source>Healthy</source>
        <translation>Gesund</translation>
    </message>
    <message>
        <source>Making the samples…</source>
        <translation>Die Beispiele werden erzeugt …</translation>
    </message>
    <message>
        <source>No image at hand? Try a sample:</source>
        <translation>Kein Image zur Hand? Nehmen Sie ein Beispiel:</translation>
    </message>
    <message>
        <source>Open…</source>
        <translation>Öffnen …</translation>
    </message>
    <message>
        <source>Recent files</source>
        <translation>Zuletzt geöffnete Dateien</translation>
    </message>
    <message>
        <source>See what is inside a qcow2 image, or convert it.
Files are opened for reading only; nothing is changed.</source>
        <translation>Sehen Sie in ein qcow2-Image hinein oder konvertieren Sie es.
Dateien werden nur zum Lesen geöffnet; nichts wird geändert.</translation>
    </message>
    <message>
        <source>Try a sample: {name}</source>
        <translation>Beispiel ansehen: {name}</translation>
    </message>
</context>
<context>
    <name>StructureTreeModel</name>
    <message>
        <source> or more</source>
        <translation> oder mehr</translation>
    </message>
    <message>
        <source>has findings</source>
        <translation>hat Befunde</translation>
    </message>
    <message>
        <source>reading…</source>
        <translation>wird gelesen …</translation>
    </message>
    <message>
        <source>unreadable</source>
        <translation>nicht lesbar</translation>
    </message>
</context>
<context>
    <name>StructureTreeView</name>
    <message>
        <source>Structures</source>
        <translation>Strukturen</translation>
    </message>
</context>
<context>
    <name>TargetField</name>
    <message>
        <source>Browse…</source>
        <translation>Durchsuchen …</translation>
    </message>
</context>
<context>
    <name>TargetFields</name>
    <message>
        <source>0.10 – version 2, for QEMU before 1.1</source>
        <translation>0.10 – Version 2, für QEMU vor 1.1</translation>
    </message>
    <message>
        <source>1.1 – version 3</source>
        <translation>1.1 – Version 3</translation>
    </message>
    <message>
        <source>32 KiB – smaller, for common readers</source>
        <translation>32 KiB – kleiner, für übliche Leser</translation>
    </message>
    <message>
        <source>4 KiB – as qemu-img writes, for strict readers</source>
        <translation>4 KiB – wie qemu-img schreibt, für strenge Leser</translation>
    </message>
    <message>
        <source>Backing file</source>
        <translation>Backing-Datei</translation>
    </message>
    <message>
        <source>Cluster size</source>
        <translation>Clustergröße</translation>
    </message>
    <message>
        <source>Compat</source>
        <translation>Compat</translation>
    </message>
    <message>
        <source>Compression</source>
        <translation>Kompression</translation>
    </message>
    <message>
        <source>Copy the persistent bitmaps</source>
        <translation>Persistente Bitmaps mitnehmen</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>Platte</translation>
    </message>
    <message>
        <source>Extended L2 entries (32 subclusters a cluster)</source>
        <translation>Erweiterte L2-Einträge (32 Subcluster je Cluster)</translation>
    </message>
    <message>
        <source>Format</source>
        <translation>Format</translation>
    </message>
    <message>
        <source>Format of the backing file</source>
        <translation>Format der Backing-Datei</translation>
    </message>
    <message>
        <source>Holes from</source>
        <translation>Löcher ab</translation>
    </message>
    <message>
        <source>Lazy refcounts</source>
        <translation>Lazy Refcounts</translation>
    </message>
    <message>
        <source>Level</source>
        <translation>Stufe</translation>
    </message>
    <message>
        <source>Name of the backing file</source>
        <translation>Name der Backing-Datei</translation>
    </message>
    <message>
        <source>Refcount bits</source>
        <translation>Refcount-Bits</translation>
    </message>
    <message>
        <source>Salvage: zeros for what can&apos;t be read, and a list</source>
        <translation>Retten: Nullen für Unlesbares, und eine Liste</translation>
    </message>
    <message>
        <source>Set aside</source>
        <translation>Platz vorab</translation>
    </message>
    <message>
        <source>Snapshots</source>
        <translation>Snapshots</translation>
    </message>
    <message>
        <source>Source is</source>
        <translation>Quelle ist</translation>
    </message>
    <message>
        <source>Threads</source>
        <translation>Threads</translation>
    </message>
    <message>
        <source>Verify: read the result again and compare it</source>
        <translation>Überprüfen: das Ergebnis erneut lesen und vergleichen</translation>
    </message>
    <message>
        <source>a place in the file for each cluster</source>
        <translation>ein Platz in der Datei für jeden Cluster</translation>
    </message>
    <message>
        <source>are left behind</source>
        <translation>bleiben zurück</translation>
    </message>
    <message>
        <source>as it will be stored, seen from the target</source>
        <translation>wie es gespeichert wird, vom Ziel aus gesehen</translation>
    </message>
    <message>
        <source>as its content shows</source>
        <translation>wie sein Inhalt zeigt</translation>
    </message>
    <message>
        <source>become a chain, the active disk on top</source>
        <translation>werden eine Kette, die aktive Platte oben</translation>
    </message>
    <message>
        <source>become an image each</source>
        <translation>werden je ein Image</translation>
    </message>
    <message>
        <source>default: {level}  ({lowest} – {highest})</source>
        <translation>Vorgabe: {level}  ({lowest} – {highest})</translation>
    </message>
    <message>
        <source>flatten: one file with everything</source>
        <translation>auflösen: eine Datei mit allem</translation>
    </message>
    <message>
        <source>keep the source’s own backing file</source>
        <translation>die Backing-Datei der Quelle behalten</translation>
    </message>
    <message>
        <source>keep this backing file:</source>
        <translation>diese Backing-Datei behalten:</translation>
    </message>
    <message>
        <source>no compression</source>
        <translation>keine Kompression</translation>
    </message>
    <message>
        <source>none</source>
        <translation>keine</translation>
    </message>
    <message>
        <source>none: write every zero</source>
        <translation>keine: jede Null schreiben</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>nichts</translation>
    </message>
    <message>
        <source>one for each core ({count})</source>
        <translation>einer je Kern ({count})</translation>
    </message>
    <message>
        <source>qcow2 – QEMU’s image format</source>
        <translation>qcow2 – das Imageformat von QEMU</translation>
    </message>
    <message>
        <source>raw – a plain disk image</source>
        <translation>raw – ein einfaches Disk-Image</translation>
    </message>
    <message>
        <source>the active disk</source>
        <translation>die aktive Platte</translation>
    </message>
    <message>
        <source>the space of the whole disk</source>
        <translation>den Platz der ganzen Platte</translation>
    </message>
    <message>
        <source>the whole disk, written with zeros</source>
        <translation>die ganze Platte, mit Nullen beschrieben</translation>
    </message>
    <message>
        <source>zlib window</source>
        <translation>zlib-Fenster</translation>
    </message>
    <message>
        <source>zlib – every reader knows it</source>
        <translation>zlib – kennt jeder Leser</translation>
    </message>
    <message>
        <source>zstd – faster, usually smaller</source>
        <translation>zstd – schneller, meist kleiner</translation>
    </message>
</context>
<context>
    <name>TargetSection</name>
    <message>
        <source>Browse…</source>
        <translation>Durchsuchen …</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>Ordner</translation>
    </message>
    <message>
        <source>Folder for the results</source>
        <translation>Ordner für die Ergebnisse</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>Target</source>
        <translation>Ziel</translation>
    </message>
    <message>
        <source>The file to make</source>
        <translation>Die Datei, die entsteht</translation>
    </message>
    <message>
        <source>beside the sources</source>
        <translation>neben den Quellen</translation>
    </message>
</context>
<context>
    <name>ThroughputPlot</name>
    <message>
        <source>MB/s over seconds; right of the dashed line it verifies</source>
        <translation>MB/s über Sekunden; rechts der gestrichelten Linie wird überprüft</translation>
    </message>
    <message>
        <source>Speed of the conversion over time</source>
        <translation>Geschwindigkeit der Konvertierung im Lauf der Zeit</translation>
    </message>
    <message>
        <source>in</source>
        <translation>lesen</translation>
    </message>
    <message>
        <source>out</source>
        <translation>schreiben</translation>
    </message>
</context>
<context>
    <name>Trail</name>
    <message>
        <source>The way to the selected guest byte</source>
        <translation>Der Weg zum ausgewählten Gast-Byte</translation>
    </message>
    <message>
        <source>Wheel: zoom   Drag: move   Shift and drag: a range   Arrows: step   N P: the next and the previous of its state</source>
        <translation>Rad: Zoom   Ziehen: verschieben   Umschalt und ziehen: Bereich   Pfeile: Schritt   N P: der nächste und vorige dieses Zustands</translation>
    </message>
</context>
<context>
    <name>WindowConversions</name>
    <message>
        <source>Conversions finished</source>
        <translation>Konvertierungen fertig</translation>
    </message>
    <message>
        <source>Conversions finished, not all of them well</source>
        <translation>Konvertierungen fertig, nicht alle erfolgreich</translation>
    </message>
    <message>
        <source>Not everything that was dropped can be converted</source>
        <translation>Nicht alles, was abgelegt wurde, kann konvertiert werden</translation>
    </message>
    <message>
        <source>Nothing was changed</source>
        <translation>Nichts wurde geändert</translation>
    </message>
    <message>
        <source>The queue of conversions can’t be kept for the next start: {reason}</source>
        <translation>Die Warteschlange kann nicht für den nächsten Start bewahrt werden: {reason}</translation>
    </message>
    <message>
        <source>{name} has begun meanwhile, with the settings it had.</source>
        <translation>{name} hat inzwischen begonnen, mit den bisherigen Einstellungen.</translation>
    </message>
</context>
<context>
    <name>WindowDocks</name>
    <message>
        <source>Conversions</source>
        <translation>Konvertierungen</translation>
    </message>
    <message>
        <source>Findings</source>
        <translation>Befunde</translation>
    </message>
    <message>
        <source>Hex</source>
        <translation>Hex</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>Protokoll</translation>
    </message>
    <message>
        <source>No image is open.</source>
        <translation>Kein Image ist geöffnet.</translation>
    </message>
</context>
<context>
    <name>WindowHost</name>
    <message>
        <source>The language changes when everything that runs has ended.</source>
        <translation>Die Sprache wechselt, sobald alles beendet ist, was läuft.</translation>
    </message>
</context>
<context>
    <name>WindowLog</name>
    <message>
        <source>cancelled</source>
        <translation>abgebrochen</translation>
    </message>
    <message>
        <source>check failed: {reason}</source>
        <translation>Prüfung gescheitert: {reason}</translation>
    </message>
    <message>
        <source>check stopped</source>
        <translation>Prüfung angehalten</translation>
    </message>
    <message>
        <source>converted</source>
        <translation>konvertiert</translation>
    </message>
    <message>
        <source>interrupted</source>
        <translation>unterbrochen</translation>
    </message>
    <message>
        <source>{path}: read</source>
        <translation>{path}: gelesen</translation>
    </message>
</context>
<context>
    <name>WindowNotices</name>
    <message>
        <source>Report: {path}</source>
        <translation>Bericht: {path}</translation>
    </message>
    <message>
        <source>Show in its folder</source>
        <translation>In seinem Ordner zeigen</translation>
    </message>
    <message>
        <source>Some things are missing on this system</source>
        <translation>Auf diesem System fehlt einiges</translation>
    </message>
    <message>
        <source>Something went wrong that should not have; your files are as they were.</source>
        <translation>Etwas ging schief, was nicht schiefgehen sollte; Ihre Dateien sind, wie sie waren.</translation>
    </message>
    <message>
        <source>The report could not be written</source>
        <translation>Der Bericht konnte nicht geschrieben werden</translation>
    </message>
    <message>
        <source>The report says where in the program that was, and nothing of your files.</source>
        <translation>Der Bericht sagt, wo im Programm das war, und nichts über Ihre Dateien.</translation>
    </message>
    <message>
        <source>qcowgui ended unexpectedly the last time.</source>
        <translation>qcowgui endete beim letzten Mal unerwartet.</translation>
    </message>
</context>
<context>
    <name>benchmark</name>
    <message>
        <source>99 of 100, µs</source>
        <translation>99 von 100, µs</translation>
    </message>
    <message>
        <source>Backend</source>
        <translation>Backend</translation>
    </message>
    <message>
        <source>Cluster</source>
        <translation>Cluster</translation>
    </message>
    <message>
        <source>Compress, MB/s</source>
        <translation>Komprimieren, MB/s</translation>
    </message>
    <message>
        <source>Compressing and decompressing…</source>
        <translation>Wird komprimiert und dekomprimiert …</translation>
    </message>
    <message>
        <source>Conversion</source>
        <translation>Konvertierung</translation>
    </message>
    <message>
        <source>Converting with each program: {done} of {total}…</source>
        <translation>Jedes Programm konvertiert: {done} von {total} …</translation>
    </message>
    <message>
        <source>Decompress, MB/s</source>
        <translation>Dekomprimieren, MB/s</translation>
    </message>
    <message>
        <source>File</source>
        <translation>Datei</translation>
    </message>
    <message>
        <source>Half within, µs</source>
        <translation>Hälfte innerhalb, µs</translation>
    </message>
    <message>
        <source>Level</source>
        <translation>Stufe</translation>
    </message>
    <message>
        <source>Ratio</source>
        <translation>Verhältnis</translation>
    </message>
    <message>
        <source>Reading at random places…</source>
        <translation>An zufälligen Stellen wird gelesen …</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>Taking a sample of the disk…</source>
        <translation>Von der Platte wird eine Probe genommen …</translation>
    </message>
    <message>
        <source>The machine was busy: a thread had {share} of a core, so the figures are lower than they could be.</source>
        <translation>Der Rechner war beschäftigt: Ein Thread hatte {share} eines Kerns, daher sind die Zahlen niedriger als möglich.</translation>
    </message>
    <message>
        <source>Threads</source>
        <translation>Threads</translation>
    </message>
    <message>
        <source>Type</source>
        <translation>Art</translation>
    </message>
    <message>
        <source>compression type {kind}</source>
        <translation>Kompressionsart {kind}</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>gescheitert</translation>
    </message>
    <message>
        <source>not compressed</source>
        <translation>nicht komprimiert</translation>
    </message>
    <message>
        <source>qcow2 → raw</source>
        <translation>qcow2 → raw</translation>
    </message>
    <message>
        <source>raw → qcow2</source>
        <translation>raw → qcow2</translation>
    </message>
    <message>
        <source>{program}, s</source>
        <translation>{program}, s</translation>
    </message>
    <message>
        <source>{sampled} of {stored} tried, {runs}; {system}, {cores}</source>
        <translation>{sampled} von {stored} probiert, {runs}; {system}, {cores}</translation>
    </message>
</context>
<context>
    <name>bits</name>
    <message>
        <source>Bitmap flags</source>
        <translation>Bitmap-Flags</translation>
    </message>
    <message>
        <source>Bitmap table entry</source>
        <translation>Eintrag einer Bitmap-Tabelle</translation>
    </message>
    <message>
        <source>Compressed cluster descriptor</source>
        <translation>Deskriptor eines komprimierten Clusters</translation>
    </message>
    <message>
        <source>L1 entry</source>
        <translation>L1-Eintrag</translation>
    </message>
    <message>
        <source>L2 entry</source>
        <translation>L2-Eintrag</translation>
    </message>
    <message>
        <source>Refcount</source>
        <translation>Refcount</translation>
    </message>
    <message>
        <source>Refcount table entry</source>
        <translation>Eintrag der Refcount-Tabelle</translation>
    </message>
    <message>
        <source>Subcluster bitmap</source>
        <translation>Subcluster-Bitmap</translation>
    </message>
    <message>
        <source>a subcluster can’t have data and read as zeros</source>
        <translation>ein Subcluster kann nicht Daten haben und als Nullen gelesen werden</translation>
    </message>
    <message>
        <source>how often the cluster is used</source>
        <translation>wie oft der Cluster benutzt wird</translation>
    </message>
    <message>
        <source>means nothing today</source>
        <translation>bedeutet heute nichts</translation>
    </message>
    <message>
        <source>must be zero</source>
        <translation>muss null sein</translation>
    </message>
    <message>
        <source>must be zero beside an offset</source>
        <translation>muss neben einem Offset null sein</translation>
    </message>
    <message>
        <source>must be zero for a compressed cluster</source>
        <translation>muss bei einem komprimierten Cluster null sein</translation>
    </message>
    <message>
        <source>must be zero in extended entries: the bitmap says it</source>
        <translation>muss in erweiterten Einträgen null sein: das Bitmap sagt es</translation>
    </message>
    <message>
        <source>must be zero in version 2</source>
        <translation>muss in Version 2 null sein</translation>
    </message>
    <message>
        <source>none</source>
        <translation>keine</translation>
    </message>
    <message>
        <source>not saved cleanly: its bits can’t be trusted</source>
        <translation>nicht sauber gespeichert: seinen Bits ist nicht zu trauen</translation>
    </message>
    <message>
        <source>records as soon as the image is written</source>
        <translation>zeichnet auf, sobald das Image geschrieben wird</translation>
    </message>
    <message>
        <source>there is no host cluster that could have the data</source>
        <translation>es gibt keinen Host-Cluster, der die Daten haben könnte</translation>
    </message>
    <message>
        <source>usable by who does not know the extra data</source>
        <translation>benutzbar auch für den, der die Zusatzdaten nicht kennt</translation>
    </message>
</context>
<context>
    <name>chain</name>
    <message>
        <source>A file of that name lies beside the image: {path}</source>
        <translation>Eine Datei dieses Namens liegt neben dem Image: {path}</translation>
    </message>
    <message>
        <source>Disk size</source>
        <translation>Größe der Platte</translation>
    </message>
    <message>
        <source>File</source>
        <translation>Datei</translation>
    </message>
    <message>
        <source>File length</source>
        <translation>Länge der Datei</translation>
    </message>
    <message>
        <source>Files that an image names are opened only when you agree: “Allow…”.</source>
        <translation>Dateien, die ein Image nennt, werden nur geöffnet, wenn Sie zustimmen: „Erlauben …“.</translation>
    </message>
    <message>
        <source>Format</source>
        <translation>Format</translation>
    </message>
    <message>
        <source>It lies outside the image’s folder: only allow what you expect.</source>
        <translation>Sie liegt außerhalb des Ordners des Images: Erlauben Sie nur, was Sie erwarten.</translation>
    </message>
    <message>
        <source>Layer</source>
        <translation>Schicht</translation>
    </message>
    <message>
        <source>No format is recorded: a guest could have written what was recognised as one.</source>
        <translation>Kein Format ist vermerkt: Ein Gast könnte geschrieben haben, was als eines erkannt wurde.</translation>
    </message>
    <message>
        <source>Nothing is there. The file may have been moved or renamed.</source>
        <translation>Dort ist nichts. Die Datei wurde vielleicht verschoben oder umbenannt.</translation>
    </message>
    <message>
        <source>State</source>
        <translation>Zustand</translation>
    </message>
    <message>
        <source>The image still names the old place; this tab reads the file where it is now.</source>
        <translation>Das Image nennt noch den alten Ort; dieser Tab liest die Datei, wo sie jetzt ist.</translation>
    </message>
    <message>
        <source>The {kind} {name} of {image}.</source>
        <translation>{kind} {name} von {image}.</translation>
    </message>
    <message>
        <source>a loop</source>
        <translation>eine Schleife</translation>
    </message>
    <message>
        <source>can’t be read</source>
        <translation>nicht lesbar</translation>
    </message>
    <message>
        <source>data file</source>
        <translation>Datendatei</translation>
    </message>
    <message>
        <source>exists, not opened</source>
        <translation>vorhanden, nicht geöffnet</translation>
    </message>
    <message>
        <source>missing</source>
        <translation>fehlt</translation>
    </message>
    <message>
        <source>neither file nor block device</source>
        <translation>weder Datei noch Blockgerät</translation>
    </message>
    <message>
        <source>no plain file name</source>
        <translation>kein einfacher Dateiname</translation>
    </message>
    <message>
        <source>not recorded</source>
        <translation>nicht vermerkt</translation>
    </message>
    <message>
        <source>opened</source>
        <translation>geöffnet</translation>
    </message>
    <message>
        <source>the chain is too long</source>
        <translation>die Kette ist zu lang</translation>
    </message>
    <message>
        <source>this image</source>
        <translation>dieses Image</translation>
    </message>
    <message>
        <source>{format}, guessed</source>
        <translation>{format}, geraten</translation>
    </message>
    <message>
        <source>{state}, located by hand</source>
        <translation>{state}, von Hand gefunden</translation>
    </message>
    <message>
        <source>{state}, outside the image’s folder</source>
        <translation>{state}, außerhalb des Ordners des Images</translation>
    </message>
</context>
<context>
    <name>convert</name>
    <message>
        <source>, window of 4 KiB</source>
        <translation>, Fenster von 4 KiB</translation>
    </message>
    <message>
        <source>Another conversion of the queue makes {target}</source>
        <translation>Eine andere Umwandlung der Warteschlange erzeugt {target}</translation>
    </message>
    <message>
        <source>Becomes</source>
        <translation>Wird zu</translation>
    </message>
    <message>
        <source>Choose a name for the target</source>
        <translation>Wählen Sie einen Namen für das Ziel</translation>
    </message>
    <message>
        <source>Here, {name} of {image} was read at {path}.</source>
        <translation>Hier wurde {name} von {image} unter {path} gelesen.</translation>
    </message>
    <message>
        <source>Image</source>
        <translation>Image</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>clusters of {size}</source>
        <translation>Cluster von {size}</translation>
    </message>
    <message>
        <source>extended L2 entries</source>
        <translation>erweiterte L2-Einträge</translation>
    </message>
    <message>
        <source>file of {size}</source>
        <translation>Datei von {size}</translation>
    </message>
    <message>
        <source>lazy refcounts</source>
        <translation>Lazy Refcounts</translation>
    </message>
    <message>
        <source>not compressed</source>
        <translation>nicht komprimiert</translation>
    </message>
    <message>
        <source>not verified</source>
        <translation>nicht überprüft</translation>
    </message>
    <message>
        <source>of a snapshot</source>
        <translation>eines Snapshots</translation>
    </message>
    <message>
        <source>on a backing file</source>
        <translation>auf einer Backing-Datei</translation>
    </message>
    <message>
        <source>on its backing file</source>
        <translation>auf seiner Backing-Datei</translation>
    </message>
    <message>
        <source>raw disk</source>
        <translation>rohe Platte</translation>
    </message>
    <message>
        <source>refcounts of {bits}</source>
        <translation>Refcounts von {bits}</translation>
    </message>
    <message>
        <source>salvaged</source>
        <translation>gerettet</translation>
    </message>
    <message>
        <source>verified</source>
        <translation>überprüft</translation>
    </message>
    <message>
        <source>with its bitmaps</source>
        <translation>mit seinen Bitmaps</translation>
    </message>
    <message>
        <source>without holes</source>
        <translation>ohne Löcher</translation>
    </message>
    <message>
        <source>{first} and {second} would both become {target}</source>
        <translation>{first} und {second} würden beide zu {target}</translation>
    </message>
    <message>
        <source>{images} with other settings</source>
        <translation>{images} mit anderen Einstellungen</translation>
    </message>
    <message>
        <source>{size} disk</source>
        <translation>{size} Platte</translation>
    </message>
    <message>
        <source>≈ {size} on disk</source>
        <translation>≈ {size} auf der Festplatte</translation>
    </message>
</context>
<context>
    <name>counts</name>
    <message>
        <source>L1 table</source>
        <translation>L1-Tabelle</translation>
    </message>
    <message>
        <source>L1 tables</source>
        <translation>L1-Tabellen</translation>
    </message>
    <message>
        <source>L2 table</source>
        <translation>L2-Tabelle</translation>
    </message>
    <message>
        <source>L2 tables</source>
        <translation>L2-Tabellen</translation>
    </message>
    <message>
        <source>bit</source>
        <translation>Bit</translation>
    </message>
    <message>
        <source>bitmap</source>
        <translation>Bitmap</translation>
    </message>
    <message>
        <source>bitmaps</source>
        <translation>Bitmaps</translation>
    </message>
    <message>
        <source>bits</source>
        <translation>Bits</translation>
    </message>
    <message>
        <source>byte</source>
        <translation>Byte</translation>
    </message>
    <message>
        <source>bytes</source>
        <translation>Bytes</translation>
    </message>
    <message>
        <source>cluster</source>
        <translation>Cluster</translation>
    </message>
    <message>
        <source>cluster shaped like an L2 table</source>
        <translation>Cluster in der Form einer L2-Tabelle</translation>
    </message>
    <message>
        <source>cluster that reads</source>
        <translation>Cluster liest sich</translation>
    </message>
    <message>
        <source>cluster with data</source>
        <translation>Cluster mit Daten</translation>
    </message>
    <message>
        <source>clusters</source>
        <translation>Cluster</translation>
    </message>
    <message>
        <source>clusters shaped like L2 tables</source>
        <translation>Cluster in der Form von L2-Tabellen</translation>
    </message>
    <message>
        <source>clusters that read</source>
        <translation>Cluster lesen sich</translation>
    </message>
    <message>
        <source>clusters with data</source>
        <translation>Cluster mit Daten</translation>
    </message>
    <message>
        <source>conversion</source>
        <translation>Konvertierung</translation>
    </message>
    <message>
        <source>conversion is</source>
        <translation>Konvertierung ist</translation>
    </message>
    <message>
        <source>conversions</source>
        <translation>Konvertierungen</translation>
    </message>
    <message>
        <source>conversions are</source>
        <translation>Konvertierungen sind</translation>
    </message>
    <message>
        <source>copies are</source>
        <translation>Kopien werden</translation>
    </message>
    <message>
        <source>copy is</source>
        <translation>Kopie wird</translation>
    </message>
    <message>
        <source>core</source>
        <translation>Kern</translation>
    </message>
    <message>
        <source>cores</source>
        <translation>Kerne</translation>
    </message>
    <message>
        <source>corruption</source>
        <translation>Beschädigung</translation>
    </message>
    <message>
        <source>corruptions</source>
        <translation>Beschädigungen</translation>
    </message>
    <message>
        <source>entries</source>
        <translation>Einträge</translation>
    </message>
    <message>
        <source>entry</source>
        <translation>Eintrag</translation>
    </message>
    <message>
        <source>error</source>
        <translation>Fehler</translation>
    </message>
    <message>
        <source>errors</source>
        <translation>Fehler</translation>
    </message>
    <message>
        <source>fatal finding</source>
        <translation>fataler Befund</translation>
    </message>
    <message>
        <source>fatal findings</source>
        <translation>fatale Befunde</translation>
    </message>
    <message>
        <source>file</source>
        <translation>Datei</translation>
    </message>
    <message>
        <source>files</source>
        <translation>Dateien</translation>
    </message>
    <message>
        <source>finding</source>
        <translation>Befund</translation>
    </message>
    <message>
        <source>findings</source>
        <translation>Befunde</translation>
    </message>
    <message>
        <source>image</source>
        <translation>Image</translation>
    </message>
    <message>
        <source>images</source>
        <translation>Images</translation>
    </message>
    <message>
        <source>iteration</source>
        <translation>Iteration</translation>
    </message>
    <message>
        <source>iterations</source>
        <translation>Iterationen</translation>
    </message>
    <message>
        <source>leak</source>
        <translation>Leck</translation>
    </message>
    <message>
        <source>leaks</source>
        <translation>Lecks</translation>
    </message>
    <message>
        <source>more of this kind</source>
        <translation>weitere dieser Art</translation>
    </message>
    <message>
        <source>more range</source>
        <translation>weiterer Bereich</translation>
    </message>
    <message>
        <source>more ranges</source>
        <translation>weitere Bereiche</translation>
    </message>
    <message>
        <source>more reason</source>
        <translation>weiterer Grund</translation>
    </message>
    <message>
        <source>more reasons</source>
        <translation>weitere Gründe</translation>
    </message>
    <message>
        <source>note</source>
        <translation>Anmerkung</translation>
    </message>
    <message>
        <source>note about this place</source>
        <translation>Anmerkung zu dieser Stelle</translation>
    </message>
    <message>
        <source>notes</source>
        <translation>Anmerkungen</translation>
    </message>
    <message>
        <source>notes about this place</source>
        <translation>Anmerkungen zu dieser Stelle</translation>
    </message>
    <message>
        <source>row</source>
        <translation>Zeile</translation>
    </message>
    <message>
        <source>rows</source>
        <translation>Zeilen</translation>
    </message>
    <message>
        <source>run</source>
        <translation>Durchlauf</translation>
    </message>
    <message>
        <source>runs</source>
        <translation>Durchläufe</translation>
    </message>
    <message>
        <source>sector</source>
        <translation>Sektor</translation>
    </message>
    <message>
        <source>sectors</source>
        <translation>Sektoren</translation>
    </message>
    <message>
        <source>snapshot</source>
        <translation>Snapshot</translation>
    </message>
    <message>
        <source>snapshots</source>
        <translation>Snapshots</translation>
    </message>
    <message>
        <source>stored cluster</source>
        <translation>gespeicherter Cluster</translation>
    </message>
    <message>
        <source>stored clusters</source>
        <translation>gespeicherte Cluster</translation>
    </message>
    <message>
        <source>suspicious</source>
        <translation>verdächtig</translation>
    </message>
    <message>
        <source>thread</source>
        <translation>Thread</translation>
    </message>
    <message>
        <source>threads</source>
        <translation>Threads</translation>
    </message>
    <message>
        <source>time</source>
        <translation>Mal</translation>
    </message>
    <message>
        <source>times</source>
        <translation>Mal</translation>
    </message>
    <message>
        <source>unusual thing</source>
        <translation>Auffälligkeit</translation>
    </message>
    <message>
        <source>unusual things</source>
        <translation>Auffälligkeiten</translation>
    </message>
</context>
<context>
    <name>drops</name>
    <message>
        <source>Drop to convert</source>
        <translation>Zum Konvertieren ablegen</translation>
    </message>
    <message>
        <source>Drop to inspect</source>
        <translation>Zum Ansehen ablegen</translation>
    </message>
    <message>
        <source>Files and folders; nothing starts before you say so.</source>
        <translation>Dateien und Ordner; nichts beginnt, bevor Sie es sagen.</translation>
    </message>
    <message>
        <source>Opens each file in a tab.</source>
        <translation>Öffnet jede Datei in einem Tab.</translation>
    </message>
    <message>
        <source>What was dropped has no address: save it as a file first.</source>
        <translation>Was abgelegt wurde, hat keine Adresse: Speichern Sie es zuerst als Datei.</translation>
    </message>
    <message>
        <source>{name} is a folder: drop the image files in it, or drop it on “Convert”.</source>
        <translation>{name} ist ein Ordner: Legen Sie die Images darin ab, oder legen Sie ihn auf „Konvertieren“.</translation>
    </message>
    <message>
        <source>{url} is not on this computer: save it first, then open the file.</source>
        <translation>{url} ist nicht auf diesem Rechner: Speichern Sie es zuerst und öffnen Sie dann die Datei.</translation>
    </message>
</context>
<context>
    <name>entries</name>
    <message>
        <source>Cluster</source>
        <translation>Cluster</translation>
    </message>
    <message>
        <source>Cluster is used as</source>
        <translation>Cluster wird benutzt als</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>Einzelheiten</translation>
    </message>
    <message>
        <source>Difference</source>
        <translation>Unterschied</translation>
    </message>
    <message>
        <source>Entry</source>
        <translation>Eintrag</translation>
    </message>
    <message>
        <source>File offset</source>
        <translation>Offset in der Datei</translation>
    </message>
    <message>
        <source>Guest offset</source>
        <translation>Gast-Offset</translation>
    </message>
    <message>
        <source>Host offset</source>
        <translation>Host-Offset</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>Art</translation>
    </message>
    <message>
        <source>L2 table</source>
        <translation>L2-Tabelle</translation>
    </message>
    <message>
        <source>Raw hex</source>
        <translation>Roh, hex</translation>
    </message>
    <message>
        <source>Refcount</source>
        <translation>Refcount</translation>
    </message>
    <message>
        <source>References</source>
        <translation>Verweise</translation>
    </message>
    <message>
        <source>all bits 0</source>
        <translation>alle Bits 0</translation>
    </message>
    <message>
        <source>all bits 1</source>
        <translation>alle Bits 1</translation>
    </message>
    <message>
        <source>at most {bytes} in {sectors}</source>
        <translation>höchstens {bytes} in {sectors}</translation>
    </message>
    <message>
        <source>bit 0 set</source>
        <translation>Bit 0 gesetzt</translation>
    </message>
    <message>
        <source>bits</source>
        <translation>Bits</translation>
    </message>
    <message>
        <source>clusters {first:,} to {last:,}</source>
        <translation>Cluster {first:,} bis {last:,}</translation>
    </message>
    <message>
        <source>compressed</source>
        <translation>komprimiert</translation>
    </message>
    <message>
        <source>counted more often</source>
        <translation>öfter gezählt</translation>
    </message>
    <message>
        <source>counted once</source>
        <translation>einmal gezählt</translation>
    </message>
    <message>
        <source>data</source>
        <translation>Daten</translation>
    </message>
    <message>
        <source>free</source>
        <translation>frei</translation>
    </message>
    <message>
        <source>guest {offset}</source>
        <translation>Gast {offset}</translation>
    </message>
    <message>
        <source>guest {offset} of snapshot {index}</source>
        <translation>Gast {offset} von Snapshot {index}</translation>
    </message>
    <message>
        <source>has a subcluster bitmap</source>
        <translation>hat ein Subcluster-Bitmap</translation>
    </message>
    <message>
        <source>invalid</source>
        <translation>ungültig</translation>
    </message>
    <message>
        <source>refcount block</source>
        <translation>Refcount-Block</translation>
    </message>
    <message>
        <source>reserved bits {bits:#x}</source>
        <translation>reservierte Bits {bits:#x}</translation>
    </message>
    <message>
        <source>subclusters differ</source>
        <translation>Subcluster verschieden</translation>
    </message>
    <message>
        <source>unallocated</source>
        <translation>nicht belegt</translation>
    </message>
    <message>
        <source>unusable</source>
        <translation>unbrauchbar</translation>
    </message>
    <message>
        <source>zero</source>
        <translation>Nullen</translation>
    </message>
    <message>
        <source>zero, allocated</source>
        <translation>Nullen, belegt</translation>
    </message>
    <message>
        <source>{count} data</source>
        <translation>{count} Daten</translation>
    </message>
    <message>
        <source>{count} invalid</source>
        <translation>{count} ungültig</translation>
    </message>
    <message>
        <source>{count} unallocated</source>
        <translation>{count} nicht belegt</translation>
    </message>
    <message>
        <source>{count} zero</source>
        <translation>{count} Nullen</translation>
    </message>
</context>
<context>
    <name>findings</name>
    <message>
        <source>A repaired copy gives the space back; no other byte changes.</source>
        <translation>Eine reparierte Kopie gibt den Platz zurück; kein anderes Byte ändert sich.</translation>
    </message>
    <message>
        <source>A repaired copy has consistent metadata; the guest reads the same data.</source>
        <translation>Eine reparierte Kopie hat konsistente Metadaten; der Gast liest dieselben Daten.</translation>
    </message>
    <message>
        <source>Nothing that a program could decide: read it, and judge yourself.</source>
        <translation>Nichts, was ein Programm entscheiden könnte: Lesen Sie es und urteilen Sie selbst.</translation>
    </message>
    <message>
        <source>Only salvage helps: a new image from what can still be read.</source>
        <translation>Nur Retten hilft: ein neues Image aus dem, was noch lesbar ist.</translation>
    </message>
    <message>
        <source>Repair</source>
        <translation>Reparieren</translation>
    </message>
    <message>
        <source>Repair (leaks)</source>
        <translation>Reparieren (Lecks)</translation>
    </message>
    <message>
        <source>Salvage</source>
        <translation>Retten</translation>
    </message>
    <message>
        <source>entry {number}</source>
        <translation>Eintrag {number}</translation>
    </message>
</context>
<context>
    <name>forecast</name>
    <message>
        <source>All {stored} tried</source>
        <translation>Alle {stored} probiert</translation>
    </message>
    <message>
        <source>Ratio</source>
        <translation>Verhältnis</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <source>between</source>
        <translation>zwischen</translation>
    </message>
    <message>
        <source>not compressed, {size}</source>
        <translation>nicht komprimiert, {size}</translation>
    </message>
    <message>
        <source>ranges with {confidence} confidence</source>
        <translation>Bereiche mit {confidence} Sicherheit</translation>
    </message>
    <message>
        <source>with verifying</source>
        <translation>mit Überprüfen</translation>
    </message>
    <message>
        <source>without verifying</source>
        <translation>ohne Überprüfen</translation>
    </message>
    <message>
        <source>without writing: the folder could not be tried</source>
        <translation>ohne Schreiben: Der Ordner konnte nicht probiert werden</translation>
    </message>
    <message>
        <source>{before} now, about {after} then</source>
        <translation>jetzt {before}, danach etwa {after}</translation>
    </message>
    <message>
        <source>{sampled} of {stored} tried</source>
        <translation>{sampled} von {stored} probiert</translation>
    </message>
    <message>
        <source>{sizes}: as large as it is</source>
        <translation>{sizes}: so groß wie jetzt</translation>
    </message>
    <message>
        <source>{sizes}: {change} larger</source>
        <translation>{sizes}: {change} größer</translation>
    </message>
    <message>
        <source>{sizes}: {change} smaller</source>
        <translation>{sizes}: {change} kleiner</translation>
    </message>
</context>
<context>
    <name>formatters</name>
    <message>
        <source>Field</source>
        <translation>Feld</translation>
    </message>
    <message>
        <source>Meaning</source>
        <translation>Bedeutung</translation>
    </message>
    <message>
        <source>No findings so far</source>
        <translation>Bisher keine Befunde</translation>
    </message>
    <message>
        <source>No findings when opening</source>
        <translation>Keine Befunde beim Öffnen</translation>
    </message>
    <message>
        <source>Offset</source>
        <translation>Offset</translation>
    </message>
    <message>
        <source>Raw hex</source>
        <translation>Roh, hex</translation>
    </message>
    <message>
        <source>Value</source>
        <translation>Wert</translation>
    </message>
</context>
<context>
    <name>go_to</name>
    <message>
        <source>An L2 table of this image has {entries}.</source>
        <translation>Eine L2-Tabelle dieses Images hat {entries}.</translation>
    </message>
    <message>
        <source>Examples: 0x30000, 192k, guest:5G, cluster 17, L1[3], L1[3]/L2[17], refcount 17.</source>
        <translation>Beispiele: 0x30000, 192k, guest:5G, cluster 17, L1[3], L1[3]/L2[17], refcount 17.</translation>
    </message>
    <message>
        <source>Only guest offsets and L1 entries belong to one snapshot.</source>
        <translation>Nur Gast-Offsets und L1-Einträge gehören zu einem bestimmten Snapshot.</translation>
    </message>
    <message>
        <source>The file ends at {end}, before {offset}.</source>
        <translation>Die Datei endet bei {end}, vor {offset}.</translation>
    </message>
    <message>
        <source>The guest’s disk ends at {end}, before {offset}.</source>
        <translation>Die Platte des Gasts endet bei {end}, vor {offset}.</translation>
    </message>
    <message>
        <source>The header allows no tables: only host offsets lead on.</source>
        <translation>Der Header erlaubt keine Tabellen: Nur Host-Offsets führen weiter.</translation>
    </message>
    <message>
        <source>The image has no snapshot {index}.</source>
        <translation>Das Image hat keinen Snapshot {index}.</translation>
    </message>
    <message>
        <source>The table has {entries}; there is no {row}.</source>
        <translation>Die Tabelle hat {entries}; {row} gibt es nicht.</translation>
    </message>
    <message>
        <source>Type where to go, for example 0x30000 or L1[3]/L2[17].</source>
        <translation>Geben Sie ein, wohin, zum Beispiel 0x30000 oder L1[3]/L2[17].</translation>
    </message>
    <message>
        <source>{number} does not fit into 64 bits.</source>
        <translation>{number} passt nicht in 64 Bit.</translation>
    </message>
    <message>
        <source>“{text}” is no place in an image.</source>
        <translation>„{text}“ ist kein Ort in einem Image.</translation>
    </message>
</context>
<context>
    <name>health</name>
    <message>
        <source>The check failed: {reason}.</source>
        <translation>Die Prüfung ist gescheitert: {reason}.</translation>
    </message>
    <message>
        <source>The file {reason}.</source>
        <translation>Die Datei {reason}.</translation>
    </message>
    <message>
        <source>check failed</source>
        <translation>Prüfung gescheitert</translation>
    </message>
    <message>
        <source>check incomplete</source>
        <translation>Prüfung unvollständig</translation>
    </message>
    <message>
        <source>checking…</source>
        <translation>wird geprüft …</translation>
    </message>
    <message>
        <source>in use by another program</source>
        <translation>von einem anderen Programm benutzt</translation>
    </message>
    <message>
        <source>in use, may be inconsistent</source>
        <translation>in Benutzung, vielleicht nicht konsistent</translation>
    </message>
    <message>
        <source>locked by another program</source>
        <translation>von einem anderen Programm gesperrt</translation>
    </message>
    <message>
        <source>metadata consistent</source>
        <translation>Metadaten konsistent</translation>
    </message>
    <message>
        <source>not checked</source>
        <translation>nicht geprüft</translation>
    </message>
</context>
<context>
    <name>heatmap</name>
    <message>
        <source> of snapshot {index}</source>
        <translation> von Snapshot {index}</translation>
    </message>
    <message>
        <source>0, but used</source>
        <translation>0, aber benutzt</translation>
    </message>
    <message>
        <source>1 reference</source>
        <translation>1 Verweis</translation>
    </message>
    <message>
        <source>1 too high</source>
        <translation>1 zu hoch</translation>
    </message>
    <message>
        <source>2 or more too high</source>
        <translation>2 oder mehr zu hoch</translation>
    </message>
    <message>
        <source>A byte of the sample says {bits}; random data says 8.</source>
        <translation>Ein Byte der Probe sagt {bits}; zufällige Daten sagen 8.</translation>
    </message>
    <message>
        <source>Compressed bytes take {share} of a cluster.</source>
        <translation>Komprimierte Bytes füllen {share} eines Clusters.</translation>
    </message>
    <message>
        <source>Compressed size</source>
        <translation>Komprimierte Größe</translation>
    </message>
    <message>
        <source>Content against role (reads)</source>
        <translation>Inhalt gegen Rolle (liest)</translation>
    </message>
    <message>
        <source>Counts as free while in use: the next write may overwrite it.</source>
        <translation>Zählt als frei, obwohl benutzt: Der nächste Schreibvorgang kann es überschreiben.</translation>
    </message>
    <message>
        <source>Decided by {layer} of the backing chain.</source>
        <translation>Bestimmt von {layer} der Backing-Kette.</translation>
    </message>
    <message>
        <source>Deleting snapshots would not touch it.</source>
        <translation>Snapshots zu löschen berührt es nicht.</translation>
    </message>
    <message>
        <source>Deleting the snapshots that use it would set it free.</source>
        <translation>Es wird frei, wenn die Snapshots gelöscht werden, die es benutzen.</translation>
    </message>
    <message>
        <source>Entropy (reads)</source>
        <translation>Entropie (liest)</translation>
    </message>
    <message>
        <source>Fragmentation</source>
        <translation>Fragmentierung</translation>
    </message>
    <message>
        <source>Free, or behind the end of the file.</source>
        <translation>Frei, oder hinter dem Ende der Datei.</translation>
    </message>
    <message>
        <source>Guest data that looks like a table of an image.</source>
        <translation>Daten des Gasts, die wie eine Tabelle eines Images aussehen.</translation>
    </message>
    <message>
        <source>Holds nothing of any disk: metadata, or free.</source>
        <translation>Enthält nichts von einer Platte: Metadaten, oder frei.</translation>
    </message>
    <message>
        <source>Holds nothing of the active disk.</source>
        <translation>Enthält nichts von der aktiven Platte.</translation>
    </message>
    <message>
        <source>Its content may be what it is said to be.</source>
        <translation>Sein Inhalt kann sein, was er sein soll.</translation>
    </message>
    <message>
        <source>Its refcount block can’t be read.</source>
        <translation>Sein Refcount-Block kann nicht gelesen werden.</translation>
    </message>
    <message>
        <source>Layer of the chain</source>
        <translation>Schicht der Kette</translation>
    </message>
    <message>
        <source>Lies where the guest cluster before it ends: read in one go.</source>
        <translation>Liegt, wo der Gast-Cluster davor endet: in einem Zug gelesen.</translation>
    </message>
    <message>
        <source>More references than counted: it may be set free too early.</source>
        <translation>Mehr Verweise als gezählt: Es kann zu früh frei werden.</translation>
    </message>
    <message>
        <source>No compressed guest cluster is stored here.</source>
        <translation>Hier ist kein komprimierter Gast-Cluster gespeichert.</translation>
    </message>
    <message>
        <source>No layer holds it: it reads as zeros.</source>
        <translation>Keine Schicht enthält es: Es liest sich als Nullen.</translation>
    </message>
    <message>
        <source>Nothing refers to it, but it looks like an L2 table.</source>
        <translation>Nichts verweist darauf, aber es sieht aus wie eine L2-Tabelle.</translation>
    </message>
    <message>
        <source>Nothing refers to it, but it still holds bytes.</source>
        <translation>Nichts verweist darauf, aber es enthält noch Bytes.</translation>
    </message>
    <message>
        <source>Nothing uses it, and it counts as free.</source>
        <translation>Nichts benutzt es, und es zählt als frei.</translation>
    </message>
    <message>
        <source>One reference less than counted: wasted space.</source>
        <translation>Ein Verweis weniger als gezählt: verschwendeter Platz.</translation>
    </message>
    <message>
        <source>Refcount, computed</source>
        <translation>Refcount, berechnet</translation>
    </message>
    <message>
        <source>Refcount, difference</source>
        <translation>Refcount, Unterschied</translation>
    </message>
    <message>
        <source>Refcount, stored</source>
        <translation>Refcount, gespeichert</translation>
    </message>
    <message>
        <source>Said to be a table, but its content is something else.</source>
        <translation>Soll eine Tabelle sein, aber der Inhalt ist etwas anderes.</translation>
    </message>
    <message>
        <source>Several references less than counted: wasted space.</source>
        <translation>Mehrere Verweise weniger als gezählt: verschwendeter Platz.</translation>
    </message>
    <message>
        <source>Snapshot sharing</source>
        <translation>Gemeinsam mit Snapshots</translation>
    </message>
    <message>
        <source>State</source>
        <translation>Zustand</translation>
    </message>
    <message>
        <source>The active disk and a snapshot have it in common.</source>
        <translation>Die aktive Platte und ein Snapshot haben es gemeinsam.</translation>
    </message>
    <message>
        <source>The bytes that were sampled are all zero.</source>
        <translation>Die geprüften Bytes sind alle null.</translation>
    </message>
    <message>
        <source>The image counts {text} for it.</source>
        <translation>Das Image zählt dafür {text}.</translation>
    </message>
    <message>
        <source>The sample holds other bytes than zero.</source>
        <translation>Die Probe enthält andere Bytes als null.</translation>
    </message>
    <message>
        <source>The stored refcount is the number of references.</source>
        <translation>Der gespeicherte Refcount ist die Zahl der Verweise.</translation>
    </message>
    <message>
        <source>Zero content (reads)</source>
        <translation>Null-Inhalt (liest)</translation>
    </message>
    <message>
        <source>active disk only</source>
        <translation>nur aktive Platte</translation>
    </message>
    <message>
        <source>block {index}</source>
        <translation>Block {index}</translation>
    </message>
    <message>
        <source>cluster {index}</source>
        <translation>Cluster {index}</translation>
    </message>
    <message>
        <source>data like a table</source>
        <translation>Daten wie eine Tabelle</translation>
    </message>
    <message>
        <source>entries from {row}</source>
        <translation>Einträge ab {row}</translation>
    </message>
    <message>
        <source>equal: free</source>
        <translation>gleich: frei</translation>
    </message>
    <message>
        <source>equal: used</source>
        <translation>gleich: benutzt</translation>
    </message>
    <message>
        <source>follows</source>
        <translation>folgt</translation>
    </message>
    <message>
        <source>guest cluster {index}</source>
        <translation>Gast-Cluster {index}</translation>
    </message>
    <message>
        <source>guest {offset}</source>
        <translation>Gast {offset}</translation>
    </message>
    <message>
        <source>guest {size}</source>
        <translation>Gast {size}</translation>
    </message>
    <message>
        <source>host {offset}</source>
        <translation>Host {offset}</translation>
    </message>
    <message>
        <source>layer {depth}</source>
        <translation>Schicht {depth}</translation>
    </message>
    <message>
        <source>maybe a lost table</source>
        <translation>vielleicht eine verlorene Tabelle</translation>
    </message>
    <message>
        <source>no guest data</source>
        <translation>keine Gastdaten</translation>
    </message>
    <message>
        <source>not compressed</source>
        <translation>nicht komprimiert</translation>
    </message>
    <message>
        <source>not read</source>
        <translation>nicht gelesen</translation>
    </message>
    <message>
        <source>not what it should be</source>
        <translation>nicht, was es sein soll</translation>
    </message>
    <message>
        <source>nothing unusual</source>
        <translation>nichts Auffälliges</translation>
    </message>
    <message>
        <source>nowhere</source>
        <translation>nirgends</translation>
    </message>
    <message>
        <source>other bytes</source>
        <translation>andere Bytes</translation>
    </message>
    <message>
        <source>refcount {count}</source>
        <translation>Refcount {count}</translation>
    </message>
    <message>
        <source>refcount {stored}, but {computed} references</source>
        <translation>Refcount {stored}, aber {computed} Verweise</translation>
    </message>
    <message>
        <source>remains</source>
        <translation>Überreste</translation>
    </message>
    <message>
        <source>shared</source>
        <translation>gemeinsam</translation>
    </message>
    <message>
        <source>snapshots only</source>
        <translation>nur Snapshots</translation>
    </message>
    <message>
        <source>table of L1[{index}]</source>
        <translation>Tabelle von L1[{index}]</translation>
    </message>
    <message>
        <source>this image</source>
        <translation>dieses Image</translation>
    </message>
    <message>
        <source>too low</source>
        <translation>zu niedrig</translation>
    </message>
    <message>
        <source>unreadable</source>
        <translation>nicht lesbar</translation>
    </message>
    <message>
        <source>worst of {count} in this cell</source>
        <translation>schlimmster von {count} in dieser Zelle</translation>
    </message>
    <message>
        <source>zeros</source>
        <translation>Nullen</translation>
    </message>
    <message>
        <source>{count} references</source>
        <translation>{count} Verweise</translation>
    </message>
    <message>
        <source>{distance} away from the end of the guest cluster before it.</source>
        <translation>{distance} vom Ende des Gast-Clusters davor entfernt.</translation>
    </message>
    <message>
        <source>{text} were found that lead to it.</source>
        <translation>{text} wurden gefunden, die dorthin führen.</translation>
    </message>
</context>
<context>
    <name>hints</name>
    <message>
        <source>Convert…</source>
        <translation>Konvertieren …</translation>
    </message>
    <message>
        <source>Deep check</source>
        <translation>Tiefenprüfung</translation>
    </message>
    <message>
        <source>Repair as a copy…</source>
        <translation>Als Kopie reparieren …</translation>
    </message>
    <message>
        <source>Salvage…</source>
        <translation>Retten …</translation>
    </message>
    <message>
        <source>“Convert…”</source>
        <translation>„Konvertieren …“</translation>
    </message>
    <message>
        <source>“Repair as a copy…”</source>
        <translation>„Als Kopie reparieren …“</translation>
    </message>
    <message>
        <source>“Salvage…”</source>
        <translation>„Retten …“</translation>
    </message>
</context>
<context>
    <name>inspector</name>
    <message>
        <source>About</source>
        <translation>Darüber</translation>
    </message>
    <message>
        <source>But no cluster starts there: the entry is damaged.</source>
        <translation>Aber dort beginnt kein Cluster: Der Eintrag ist beschädigt.</translation>
    </message>
    <message>
        <source>But the file ends before its end.</source>
        <translation>Aber die Datei endet vor seinem Ende.</translation>
    </message>
    <message>
        <source>But the file ends before that.</source>
        <translation>Aber die Datei endet davor.</translation>
    </message>
    <message>
        <source>Bytes of the file</source>
        <translation>Bytes der Datei</translation>
    </message>
    <message>
        <source>COPIED is not set, as in every snapshot.</source>
        <translation>COPIED ist nicht gesetzt, wie in jedem Snapshot.</translation>
    </message>
    <message>
        <source>COPIED is not set: it may be shared, so a write makes a copy first.</source>
        <translation>COPIED ist nicht gesetzt: Es kann gemeinsam benutzt sein, daher macht ein Schreibvorgang zuerst eine Kopie.</translation>
    </message>
    <message>
        <source>COPIED says that nothing shares it, so a write changes it in place.</source>
        <translation>COPIED sagt, dass niemand es mitbenutzt, daher ändert ein Schreibvorgang es an Ort und Stelle.</translation>
    </message>
    <message>
        <source>Cluster is</source>
        <translation>Cluster ist</translation>
    </message>
    <message>
        <source>Cluster {index}</source>
        <translation>Cluster {index}</translation>
    </message>
    <message>
        <source>Cluster {index} is used by</source>
        <translation>Cluster {index} wird benutzt von</translation>
    </message>
    <message>
        <source>Compressed payload at {place}</source>
        <translation>Komprimierte Daten bei {place}</translation>
    </message>
    <message>
        <source>Counts</source>
        <translation>Zählt</translation>
    </message>
    <message>
        <source>Each entry names a block with the refcounts of {clusters}.</source>
        <translation>Jeder Eintrag nennt einen Block mit den Refcounts von {clusters}.</translation>
    </message>
    <message>
        <source>Each entry names the L2 table of {size} of the guest’s disk.</source>
        <translation>Jeder Eintrag nennt die L2-Tabelle für {size} der Platte des Gasts.</translation>
    </message>
    <message>
        <source>Each entry names {size} of the bitmap’s bits.</source>
        <translation>Jeder Eintrag nennt {size} der Bits des Bitmaps.</translation>
    </message>
    <message>
        <source>Each entry says where {size} of the guest are stored.</source>
        <translation>Jeder Eintrag sagt, wo {size} des Gasts gespeichert sind.</translation>
    </message>
    <message>
        <source>Entries</source>
        <translation>Einträge</translation>
    </message>
    <message>
        <source>Every bit is set, and no cluster needed.</source>
        <translation>Jedes Bit ist gesetzt, und kein Cluster ist nötig.</translation>
    </message>
    <message>
        <source>Expected: {value}</source>
        <translation>Erwartet: {value}</translation>
    </message>
    <message>
        <source>Findings here</source>
        <translation>Befunde hier</translation>
    </message>
    <message>
        <source>Guest cluster {index}</source>
        <translation>Gast-Cluster {index}</translation>
    </message>
    <message>
        <source>Holds one guest cluster, compressed; it may end sooner.</source>
        <translation>Enthält einen Gast-Cluster, komprimiert; es kann früher enden.</translation>
    </message>
    <message>
        <source>How the guest’s data is encrypted.</source>
        <translation>Wie die Daten des Gasts verschlüsselt sind.</translation>
    </message>
    <message>
        <source>In the file</source>
        <translation>In der Datei</translation>
    </message>
    <message>
        <source>In the guest</source>
        <translation>Im Gast</translation>
    </message>
    <message>
        <source>Internal snapshots: each has an L1 table of its own and shares data.</source>
        <translation>Interne Snapshots: Jeder hat eine eigene L1-Tabelle und teilt Daten.</translation>
    </message>
    <message>
        <source>It contradicts the format.</source>
        <translation>Es widerspricht dem Format.</translation>
    </message>
    <message>
        <source>It counts cluster {cluster} as free.</source>
        <translation>Er zählt Cluster {cluster} als frei.</translation>
    </message>
    <message>
        <source>It counts cluster {cluster} as used {times}.</source>
        <translation>Er zählt Cluster {cluster} als {times} benutzt.</translation>
    </message>
    <message>
        <source>It counts how often each of the clusters {first} to {last} is used.</source>
        <translation>Er zählt, wie oft jeder der Cluster {first} bis {last} benutzt wird.</translation>
    </message>
    <message>
        <source>It is being read…</source>
        <translation>Es wird gerade gelesen …</translation>
    </message>
    <message>
        <source>It leads to the L2 table at {offset}, which says where {size} are stored.</source>
        <translation>Er führt zur L2-Tabelle bei {offset}, die sagt, wo {size} gespeichert sind.</translation>
    </message>
    <message>
        <source>It leads to the refcount block at {offset}, which counts how often {clusters} are used.</source>
        <translation>Er führt zum Refcount-Block bei {offset}, der zählt, wie oft {clusters} benutzt werden.</translation>
    </message>
    <message>
        <source>It lies behind the end of the disk.</source>
        <translation>Es liegt hinter dem Ende der Platte.</translation>
    </message>
    <message>
        <source>It maps nothing: the disk ends before.</source>
        <translation>Er bildet nichts ab: Die Platte endet vorher.</translation>
    </message>
    <message>
        <source>It maps {size} at guest {offset}.</source>
        <translation>Er bildet {size} ab, bei Gast {offset}.</translation>
    </message>
    <message>
        <source>It names no L2 table: {reading}</source>
        <translation>Er nennt keine L2-Tabelle: {reading}</translation>
    </message>
    <message>
        <source>It names no refcount block: all its clusters count as free.</source>
        <translation>Er nennt keinen Refcount-Block: Alle seine Cluster zählen als frei.</translation>
    </message>
    <message>
        <source>It touches {clusters}.</source>
        <translation>Es berührt {clusters}.</translation>
    </message>
    <message>
        <source>Leads to</source>
        <translation>Führt zu</translation>
    </message>
    <message>
        <source>Looking through the tables…</source>
        <translation>Die Tabellen werden durchsucht …</translation>
    </message>
    <message>
        <source>More in QEMU’s description of the format, “{section}”.</source>
        <translation>Mehr in QEMUs Beschreibung des Formats, „{section}“.</translation>
    </message>
    <message>
        <source>Named by</source>
        <translation>Genannt von</translation>
    </message>
    <message>
        <source>No bit is set, and no cluster needed.</source>
        <translation>Kein Bit ist gesetzt, und kein Cluster ist nötig.</translation>
    </message>
    <message>
        <source>No cluster starts where this table is said to be: what names it is damaged.</source>
        <translation>Wo diese Tabelle sein soll, beginnt kein Cluster: Was sie nennt, ist beschädigt.</translation>
    </message>
    <message>
        <source>Nothing names such a table, or that is being read.</source>
        <translation>Nichts nennt eine solche Tabelle, oder es wird noch gelesen.</translation>
    </message>
    <message>
        <source>Nothing noticed so far; not checked.</source>
        <translation>Bisher nichts aufgefallen; nicht geprüft.</translation>
    </message>
    <message>
        <source>Nothing noticed so far; the check is running.</source>
        <translation>Bisher nichts aufgefallen; die Prüfung läuft.</translation>
    </message>
    <message>
        <source>Parts that follow the header: names, and where optional structures lie.</source>
        <translation>Teile, die auf den Header folgen: Namen, und wo zusätzliche Strukturen liegen.</translation>
    </message>
    <message>
        <source>Payload</source>
        <translation>Komprimierte Daten</translation>
    </message>
    <message>
        <source>Persistent bitmaps: which parts of the disk changed since a backup.</source>
        <translation>Persistente Bitmaps: welche Teile der Platte sich seit einer Sicherung geändert haben.</translation>
    </message>
    <message>
        <source>Refcount</source>
        <translation>Refcount</translation>
    </message>
    <message>
        <source>Rows</source>
        <translation>Zeilen</translation>
    </message>
    <message>
        <source>Says</source>
        <translation>Sagt</translation>
    </message>
    <message>
        <source>Something is wrong here.</source>
        <translation>Hier ist etwas falsch.</translation>
    </message>
    <message>
        <source>Stored at</source>
        <translation>Gespeichert bei</translation>
    </message>
    <message>
        <source>Subclusters</source>
        <translation>Subcluster</translation>
    </message>
    <message>
        <source>That lies behind the end of the disk.</source>
        <translation>Das liegt hinter dem Ende der Platte.</translation>
    </message>
    <message>
        <source>The bits lie in the cluster at {at}.</source>
        <translation>Die Bits liegen im Cluster bei {at}.</translation>
    </message>
    <message>
        <source>The check found nothing wrong here, but could not look at everything.</source>
        <translation>Die Prüfung fand hier nichts Falsches, konnte aber nicht alles ansehen.</translation>
    </message>
    <message>
        <source>The check found nothing wrong here.</source>
        <translation>Die Prüfung fand hier nichts Falsches.</translation>
    </message>
    <message>
        <source>The file ends before it.</source>
        <translation>Die Datei endet davor.</translation>
    </message>
    <message>
        <source>The file ends before that cluster.</source>
        <translation>Die Datei endet vor diesem Cluster.</translation>
    </message>
    <message>
        <source>The file ends before this entry.</source>
        <translation>Die Datei endet vor diesem Eintrag.</translation>
    </message>
    <message>
        <source>The file ends inside it.</source>
        <translation>Die Datei endet darin.</translation>
    </message>
    <message>
        <source>The file that holds the guest’s data; this one only maps it.</source>
        <translation>Die Datei, die die Daten des Gasts enthält; diese hier bildet sie nur ab.</translation>
    </message>
    <message>
        <source>The file that is read where this image has nothing of its own.</source>
        <translation>Die Datei, die gelesen wird, wo dieses Image nichts Eigenes hat.</translation>
    </message>
    <message>
        <source>The first bytes of the file: sizes, features, and where everything else lies.</source>
        <translation>Die ersten Bytes der Datei: Größen, Merkmale, und wo alles andere liegt.</translation>
    </message>
    <message>
        <source>The way there</source>
        <translation>Der Weg dorthin</translation>
    </message>
    <message>
        <source>There is no such entry, or its table is not known yet.</source>
        <translation>Einen solchen Eintrag gibt es nicht, oder seine Tabelle ist noch nicht bekannt.</translation>
    </message>
    <message>
        <source>This can’t be right: see below.</source>
        <translation>Das kann nicht stimmen: siehe unten.</translation>
    </message>
    <message>
        <source>Used by</source>
        <translation>Benutzt von</translation>
    </message>
    <message>
        <source>What a program must know, may ignore, or must clear before it writes.</source>
        <translation>Was ein Programm kennen muss, übergehen darf oder löschen muss, bevor es schreibt.</translation>
    </message>
    <message>
        <source>What it is used for tells a check.</source>
        <translation>Wofür es benutzt wird, sagt eine Prüfung.</translation>
    </message>
    <message>
        <source>Without a usable header nobody can tell what they are.</source>
        <translation>Ohne brauchbaren Header kann niemand sagen, was sie sind.</translation>
    </message>
    <message>
        <source>and {count} more, listed in the findings</source>
        <translation>und {count} weitere, aufgeführt unter den Befunden</translation>
    </message>
    <message>
        <source>bitmap table [{index}]</source>
        <translation>Bitmap-Tabelle [{index}]</translation>
    </message>
    <message>
        <source>bitmap “{name}”</source>
        <translation>Bitmap „{name}“</translation>
    </message>
    <message>
        <source>cluster {index} at {offset}</source>
        <translation>Cluster {index} bei {offset}</translation>
    </message>
    <message>
        <source>compressed payload at {offset}</source>
        <translation>komprimierte Daten bei {offset}</translation>
    </message>
    <message>
        <source>guest {offset}</source>
        <translation>Gast {offset}</translation>
    </message>
    <message>
        <source>header field {name}</source>
        <translation>Header-Feld {name}</translation>
    </message>
    <message>
        <source>its L1 table</source>
        <translation>seine L1-Tabelle</translation>
    </message>
    <message>
        <source>its first entry</source>
        <translation>der erste Eintrag darin</translation>
    </message>
    <message>
        <source>its first entry or field</source>
        <translation>der erste Eintrag oder das erste Feld darin</translation>
    </message>
    <message>
        <source>its refcount, block {part} [{row}]</source>
        <translation>sein Refcount, Block {part} [{row}]</translation>
    </message>
    <message>
        <source>its table</source>
        <translation>seine Tabelle</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>nichts</translation>
    </message>
    <message>
        <source>nothing: behind the end of the disk</source>
        <translation>nichts: hinter dem Ende der Platte</translation>
    </message>
    <message>
        <source>refcount table [{index}]</source>
        <translation>Refcount-Tabelle [{index}]</translation>
    </message>
    <message>
        <source>snapshot “{name}”</source>
        <translation>Snapshot „{name}“</translation>
    </message>
    <message>
        <source>the L2 table</source>
        <translation>die L2-Tabelle</translation>
    </message>
    <message>
        <source>the refcount block</source>
        <translation>der Refcount-Block</translation>
    </message>
    <message>
        <source>{bytes} at most, in {sectors}</source>
        <translation>höchstens {bytes}, in {sectors}</translation>
    </message>
    <message>
        <source>{bytes} from {position} on</source>
        <translation>{bytes} ab {position}</translation>
    </message>
    <message>
        <source>{count} contradictory</source>
        <translation>{count} widersprüchlich</translation>
    </message>
    <message>
        <source>{count} counted</source>
        <translation>{count} gezählt</translation>
    </message>
    <message>
        <source>{count} not allocated</source>
        <translation>{count} nicht belegt</translation>
    </message>
    <message>
        <source>{count} notes about this place</source>
        <translation>{count} Anmerkungen zu dieser Stelle</translation>
    </message>
    <message>
        <source>{count} of {bits}</source>
        <translation>{count} von {bits}</translation>
    </message>
    <message>
        <source>{count} stored</source>
        <translation>{count} gespeichert</translation>
    </message>
    <message>
        <source>{count} things are wrong here.</source>
        <translation>{count} Dinge sind hier falsch.</translation>
    </message>
    <message>
        <source>{count} zero</source>
        <translation>{count} Nullen</translation>
    </message>
    <message>
        <source>{entry} of snapshot {index}</source>
        <translation>{entry} von Snapshot {index}</translation>
    </message>
    <message>
        <source>{kinds}
of {size} each</source>
        <translation>{kinds}
von je {size}</translation>
    </message>
    <message>
        <source>{place} of snapshot {index}</source>
        <translation>{place} von Snapshot {index}</translation>
    </message>
</context>
<context>
    <name>keys</name>
    <message>
        <source>+, −</source>
        <translation>+, −</translation>
    </message>
    <message>
        <source>0, 1</source>
        <translation>0, 1</translation>
    </message>
    <message>
        <source>Arrow keys</source>
        <translation>Pfeiltasten</translation>
    </message>
    <message>
        <source>Bytes: search, again, backwards</source>
        <translation>Bytes: suchen, weiter, rückwärts</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>Befehl</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Entf</translation>
    </message>
    <message>
        <source>Go to what a finding is about</source>
        <translation>Zu dem gehen, was ein Befund betrifft</translation>
    </message>
    <message>
        <source>Inspector: copy everything it says</source>
        <translation>Inspektor: alles kopieren, was er sagt</translation>
    </message>
    <message>
        <source>Inspector: previous or next entry</source>
        <translation>Inspektor: voriger oder nächster Eintrag</translation>
    </message>
    <message>
        <source>Keys</source>
        <translation>Tasten</translation>
    </message>
    <message>
        <source>Legend: only this state, or hide it</source>
        <translation>Legende: nur dieser Zustand, oder ausblenden</translation>
    </message>
    <message>
        <source>Map: everything, or single cells</source>
        <translation>Karte: alles, oder einzelne Cluster</translation>
    </message>
    <message>
        <source>Map: move by a cell</source>
        <translation>Karte: um eine Zelle weiter</translation>
    </message>
    <message>
        <source>Map: next or previous of the selected state</source>
        <translation>Karte: nächster oder voriger des gewählten Zustands</translation>
    </message>
    <message>
        <source>Map: select a range</source>
        <translation>Karte: Bereich auswählen</translation>
    </message>
    <message>
        <source>Map: zoom in or out</source>
        <translation>Karte: vergrößern oder verkleinern</translation>
    </message>
    <message>
        <source>N, P</source>
        <translation>N, P</translation>
    </message>
    <message>
        <source>Remove a recent file from the list</source>
        <translation>Zuletzt geöffnete Datei aus der Liste entfernen</translation>
    </message>
    <message>
        <source>Return</source>
        <translation>Eingabe</translation>
    </message>
    <message>
        <source>Shift+Arrow keys</source>
        <translation>Umschalt+Pfeiltasten</translation>
    </message>
    <message>
        <source>Space, Delete</source>
        <translation>Leertaste, Entf</translation>
    </message>
</context>
<context>
    <name>locator</name>
    <message>
        <source>It reads as zeros and takes no space.</source>
        <translation>Es liest sich als Nullen und braucht keinen Platz.</translation>
    </message>
    <message>
        <source>It reads as zeros, whatever the host cluster holds.</source>
        <translation>Es liest sich als Nullen, was auch immer der Host-Cluster enthält.</translation>
    </message>
    <message>
        <source>No cluster starts there: the L1 entry is damaged.</source>
        <translation>Dort beginnt kein Cluster: Der L1-Eintrag ist beschädigt.</translation>
    </message>
    <message>
        <source>No cluster starts there: the L2 entry is damaged.</source>
        <translation>Dort beginnt kein Cluster: Der L2-Eintrag ist beschädigt.</translation>
    </message>
    <message>
        <source>Not in this image: it reads as zeros or from below.</source>
        <translation>Nicht in diesem Image: Es liest sich als Nullen oder von darunter.</translation>
    </message>
    <message>
        <source>Subcluster {index} is not allocated.</source>
        <translation>Subcluster {index} ist nicht belegt.</translation>
    </message>
    <message>
        <source>Subcluster {index} is stored.</source>
        <translation>Subcluster {index} ist gespeichert.</translation>
    </message>
    <message>
        <source>Subcluster {index} reads as zeros.</source>
        <translation>Subcluster {index} liest sich als Nullen.</translation>
    </message>
    <message>
        <source>The L1 entry leads to the L2 table at {offset}.</source>
        <translation>Der L1-Eintrag führt zur L2-Tabelle bei {offset}.</translation>
    </message>
    <message>
        <source>The L1 table has no entry for this byte.</source>
        <translation>Die L1-Tabelle hat keinen Eintrag für dieses Byte.</translation>
    </message>
    <message>
        <source>The L1 table is being read.</source>
        <translation>Die L1-Tabelle wird gerade gelesen.</translation>
    </message>
    <message>
        <source>The L2 entry names a compressed payload at {offset}.</source>
        <translation>Der L2-Eintrag nennt komprimierte Daten bei {offset}.</translation>
    </message>
    <message>
        <source>The L2 entry names no host cluster.</source>
        <translation>Der L2-Eintrag nennt keinen Host-Cluster.</translation>
    </message>
    <message>
        <source>The L2 entry names the host cluster at {offset}.</source>
        <translation>Der L2-Eintrag nennt den Host-Cluster bei {offset}.</translation>
    </message>
    <message>
        <source>The L2 table is being read.</source>
        <translation>Die L2-Tabelle wird gerade gelesen.</translation>
    </message>
    <message>
        <source>The byte lies in the external data file, at {offset}.</source>
        <translation>Das Byte liegt in der externen Datendatei, bei {offset}.</translation>
    </message>
    <message>
        <source>The disk ends before this byte.</source>
        <translation>Die Platte endet vor diesem Byte.</translation>
    </message>
    <message>
        <source>The file ends before these bytes: they are gone.</source>
        <translation>Die Datei endet vor diesen Bytes: Sie sind verloren.</translation>
    </message>
    <message>
        <source>The file ends before this entry of the L1 table.</source>
        <translation>Die Datei endet vor diesem Eintrag der L1-Tabelle.</translation>
    </message>
    <message>
        <source>The file ends before this entry of the L2 table.</source>
        <translation>Die Datei endet vor diesem Eintrag der L2-Tabelle.</translation>
    </message>
    <message>
        <source>The host cluster lies in the bytes {start} to {end}.</source>
        <translation>Der Host-Cluster liegt in den Bytes {start} bis {end}.</translation>
    </message>
    <message>
        <source>The payload lies in the bytes {start} to {end}.</source>
        <translation>Die komprimierten Daten liegen in den Bytes {start} bis {end}.</translation>
    </message>
    <message>
        <source>The two bits of subcluster {index} contradict each other.</source>
        <translation>Die beiden Bits von Subcluster {index} widersprechen sich.</translation>
    </message>
    <message>
        <source>This L1 entry names no L2 table.</source>
        <translation>Dieser L1-Eintrag nennt keine L2-Tabelle.</translation>
    </message>
    <message>
        <source>Where the byte is stored can’t be read.</source>
        <translation>Wo das Byte gespeichert ist, kann nicht gelesen werden.</translation>
    </message>
</context>
<context>
    <name>looked_at</name>
    <message>
        <source>All structures and refcounts were checked, and every compressed cluster decoded; no check can tell whether data is what the guest once wrote.</source>
        <translation>Alle Strukturen und Refcounts wurden geprüft und jeder komprimierte Cluster dekodiert; keine Prüfung kann sagen, ob die Daten das sind, was der Gast einst schrieb.</translation>
    </message>
    <message>
        <source>All structures and refcounts were checked; the guest’s data was not looked at.</source>
        <translation>Alle Strukturen und Refcounts wurden geprüft; die Daten des Gasts wurden nicht angesehen.</translation>
    </message>
    <message>
        <source>Reading the mapping tables failed: {reason}.</source>
        <translation>Das Lesen der Zuordnungstabellen ist gescheitert: {reason}.</translation>
    </message>
    <message>
        <source>The header, its extensions and the tables it names directly were looked at; the mapping tables are being read, {unseen} are not.</source>
        <translation>Der Header, seine Erweiterungen und die Tabellen, die er unmittelbar nennt, wurden angesehen; die Zuordnungstabellen werden gelesen, {unseen} nicht.</translation>
    </message>
    <message>
        <source>The header, its extensions and the tables it names directly were looked at; {unseen} were not.</source>
        <translation>Der Header, seine Erweiterungen und die Tabellen, die er unmittelbar nennt, wurden angesehen; {unseen} nicht.</translation>
    </message>
    <message>
        <source>The header, its extensions, the tables it names directly and the active mapping tables were looked at; {unseen} were not.</source>
        <translation>Der Header, seine Erweiterungen, die Tabellen, die er unmittelbar nennt, und die aktiven Zuordnungstabellen wurden angesehen; {unseen} nicht.</translation>
    </message>
</context>
<context>
    <name>manual</name>
    <message>
        <source>State</source>
        <translation>Zustand</translation>
    </message>
    <message>
        <source>What it means</source>
        <translation>Was er bedeutet</translation>
    </message>
</context>
<context>
    <name>overlays</name>
    <message>
        <source>A bit is set: an incremental backup would copy it.</source>
        <translation>Ein Bit ist gesetzt: Eine inkrementelle Sicherung würde es kopieren.</translation>
    </message>
    <message>
        <source>A further snapshot leads to the old data, too.</source>
        <translation>Auch ein weiterer Snapshot führt zu den alten Daten.</translation>
    </message>
    <message>
        <source>A guest reads the same bytes from both.</source>
        <translation>Ein Gast liest dieselben Bytes aus beiden.</translation>
    </message>
    <message>
        <source>A guest reads the same from both.</source>
        <translation>Ein Gast liest dasselbe aus beiden.</translation>
    </message>
    <message>
        <source>A table is missing, or an entry contradicts the format.</source>
        <translation>Eine Tabelle fehlt, oder ein Eintrag widerspricht dem Format.</translation>
    </message>
    <message>
        <source>Bitmap “{name}” marks {amount}.</source>
        <translation>Bitmap „{name}“ markiert {amount}.</translation>
    </message>
    <message>
        <source>Both have data here, and not the same.</source>
        <translation>Beide haben hier Daten, und nicht dieselben.</translation>
    </message>
    <message>
        <source>It was not saved cleanly (in use): QEMU does not trust its bits.</source>
        <translation>Es wurde nicht sauber gespeichert (in Benutzung): QEMU traut seinen Bits nicht.</translation>
    </message>
    <message>
        <source>Neither the snapshot nor the active disk stores anything.</source>
        <translation>Weder der Snapshot noch die aktive Platte speichert etwas.</translation>
    </message>
    <message>
        <source>No bit is set: not written since the bitmap was cleared.</source>
        <translation>Kein Bit ist gesetzt: nicht geschrieben, seit das Bitmap geleert wurde.</translation>
    </message>
    <message>
        <source>No other disk leads to it: deleting the snapshot frees it.</source>
        <translation>Keine andere Platte führt dorthin: Den Snapshot zu löschen gibt es frei.</translation>
    </message>
    <message>
        <source>One of the two is damaged here: nobody can say.</source>
        <translation>Eine von beiden ist hier beschädigt: Niemand kann es sagen.</translation>
    </message>
    <message>
        <source>Snapshot “{name}”: {changed} of the guest’s disk have another mapping now; {alone} are held by this snapshot only.</source>
        <translation>Snapshot „{name}“: {changed} der Platte des Gasts sind jetzt anders zugeordnet; {alone} hält nur dieser Snapshot.</translation>
    </message>
    <message>
        <source>The active disk has an entry; the snapshot stores nothing.</source>
        <translation>Die aktive Platte hat einen Eintrag; der Snapshot speichert nichts.</translation>
    </message>
    <message>
        <source>The active disk has the same mapping: unchanged since.</source>
        <translation>Die aktive Platte hat dieselbe Zuordnung: seither unverändert.</translation>
    </message>
    <message>
        <source>The bitmap’s table or its cluster is damaged or cut off.</source>
        <translation>Die Tabelle des Bitmaps oder sein Cluster ist beschädigt oder abgeschnitten.</translation>
    </message>
    <message>
        <source>The disks are {left} and {right} large.</source>
        <translation>Die Platten sind {left} und {right} groß.</translation>
    </message>
    <message>
        <source>The other one reads as zeros.</source>
        <translation>Die andere liest sich als Nullen.</translation>
    </message>
    <message>
        <source>This image reads as zeros.</source>
        <translation>Dieses Image liest sich als Nullen.</translation>
    </message>
    <message>
        <source>What can be read of both is the same.</source>
        <translation>Was von beiden lesbar ist, ist gleich.</translation>
    </message>
    <message>
        <source>bits can’t be read</source>
        <translation>Bits nicht lesbar</translation>
    </message>
    <message>
        <source>can’t be read</source>
        <translation>nicht lesbar</translation>
    </message>
    <message>
        <source>can’t be told</source>
        <translation>nicht zu sagen</translation>
    </message>
    <message>
        <source>changed, kept by others</source>
        <translation>geändert, von anderen gehalten</translation>
    </message>
    <message>
        <source>clean</source>
        <translation>sauber</translation>
    </message>
    <message>
        <source>different</source>
        <translation>verschieden</translation>
    </message>
    <message>
        <source>dirty</source>
        <translation>verändert</translation>
    </message>
    <message>
        <source>in neither</source>
        <translation>in keinem von beiden</translation>
    </message>
    <message>
        <source>only in this snapshot</source>
        <translation>nur in diesem Snapshot</translation>
    </message>
    <message>
        <source>only in {name}</source>
        <translation>nur in {name}</translation>
    </message>
    <message>
        <source>shared</source>
        <translation>gemeinsam</translation>
    </message>
    <message>
        <source>the same</source>
        <translation>gleich</translation>
    </message>
    <message>
        <source>written since</source>
        <translation>seither geschrieben</translation>
    </message>
    <message>
        <source>{amount} can’t be read in one of them.</source>
        <translation>{amount} sind in einem davon nicht lesbar.</translation>
    </message>
    <message>
        <source>{amount} differ in what a guest reads.</source>
        <translation>{amount} unterscheiden sich in dem, was ein Gast liest.</translation>
    </message>
</context>
<context>
    <name>places</name>
    <message>
        <source>bytes of the file</source>
        <translation>Bytes der Datei</translation>
    </message>
    <message>
        <source>cluster {index}</source>
        <translation>Cluster {index}</translation>
    </message>
    <message>
        <source>guest cluster {index}</source>
        <translation>Gast-Cluster {index}</translation>
    </message>
    <message>
        <source>guest {offset} ({size})</source>
        <translation>Gast {offset} ({size})</translation>
    </message>
    <message>
        <source>host {range}</source>
        <translation>Host {range}</translation>
    </message>
</context>
<context>
    <name>presets</name>
    <message>
        <source>A plain disk for any program; zeros take no space.</source>
        <translation>Eine einfache Platte für jedes Programm; Nullen brauchen keinen Platz.</translation>
    </message>
    <message>
        <source>As the source is, packed anew: no leaks, no gaps.</source>
        <translation>Wie die Quelle, neu gepackt: keine Lecks, keine Lücken.</translation>
    </message>
    <message>
        <source>Done soonest, and still a good deal smaller.</source>
        <translation>Am schnellsten fertig, und doch ein gutes Stück kleiner.</translation>
    </message>
    <message>
        <source>Optimise as a copy</source>
        <translation>Als Kopie optimieren</translation>
    </message>
    <message>
        <source>Raw disk</source>
        <translation>Rohe Platte</translation>
    </message>
    <message>
        <source>Read by every program that knows compressed qcow2.</source>
        <translation>Jedes Programm liest es, das komprimiertes qcow2 kennt.</translation>
    </message>
    <message>
        <source>To keep and to send. Takes the longest; QEMU 5.1 or newer.</source>
        <translation>Zum Aufheben und Verschicken. Dauert am längsten; QEMU 5.1 oder neuer.</translation>
    </message>
    <message>
        <source>qcow2, fastest</source>
        <translation>qcow2, am schnellsten</translation>
    </message>
    <message>
        <source>qcow2, most compatible</source>
        <translation>qcow2, am verträglichsten</translation>
    </message>
    <message>
        <source>qcow2, smallest</source>
        <translation>qcow2, am kleinsten</translation>
    </message>
</context>
<context>
    <name>queue</name>
    <message>
        <source>Cancelled after {time}; nothing was left behind</source>
        <translation>Nach {time} abgebrochen; nichts blieb zurück</translation>
    </message>
    <message>
        <source>Cancelling…</source>
        <translation>Wird abgebrochen …</translation>
    </message>
    <message>
        <source>Converting</source>
        <translation>Konvertiert</translation>
    </message>
    <message>
        <source>Finishing</source>
        <translation>Schließt ab</translation>
    </message>
    <message>
        <source>Interrupted: the window ended before it was done; nothing was left behind</source>
        <translation>Unterbrochen: Das Fenster endete vorher; nichts blieb zurück</translation>
    </message>
    <message>
        <source>Paused at {part}</source>
        <translation>Angehalten bei {part}</translation>
    </message>
    <message>
        <source>Preparing</source>
        <translation>Bereitet vor</translation>
    </message>
    <message>
        <source>The file was there already: made and verified before the interruption</source>
        <translation>Die Datei war schon da: vor der Unterbrechung fertig und überprüft</translation>
    </message>
    <message>
        <source>The image refers to {count} that was not opened without your consent: {files}</source>
        <translation>Das Image verweist auf {count}, ohne Ihre Zustimmung nicht geöffnet: {files}</translation>
    </message>
    <message>
        <source>The losses are listed in {name}</source>
        <translation>Die Verluste stehen in {name}</translation>
    </message>
    <message>
        <source>Verifying</source>
        <translation>Überprüft</translation>
    </message>
    <message>
        <source>Waiting</source>
        <translation>Wartet</translation>
    </message>
    <message>
        <source>not verified</source>
        <translation>nicht überprüft</translation>
    </message>
    <message>
        <source>ratio {ratio} so far</source>
        <translation>Verhältnis bisher {ratio}</translation>
    </message>
    <message>
        <source>verified</source>
        <translation>überprüft</translation>
    </message>
    <message>
        <source>{conversions} done</source>
        <translation>{conversions} fertig</translation>
    </message>
    <message>
        <source>{count} cancelled</source>
        <translation>{count} abgebrochen</translation>
    </message>
    <message>
        <source>{count} failed</source>
        <translation>{count} gescheitert</translation>
    </message>
    <message>
        <source>{ended} of {count}</source>
        <translation>{ended} von {count}</translation>
    </message>
    <message>
        <source>{rate} in</source>
        <translation>{rate} lesend</translation>
    </message>
    <message>
        <source>{rate} out</source>
        <translation>{rate} schreibend</translation>
    </message>
    <message>
        <source>{size} on disk</source>
        <translation>{size} auf der Festplatte</translation>
    </message>
    <message>
        <source>{time} left</source>
        <translation>noch {time}</translation>
    </message>
    <message>
        <source>{time} left, then verifying</source>
        <translation>noch {time}, dann Überprüfen</translation>
    </message>
</context>
<context>
    <name>report</name>
    <message>
        <source>the file’s clusters</source>
        <translation>die Cluster der Datei</translation>
    </message>
    <message>
        <source>the guest’s disk</source>
        <translation>die Platte des Gasts</translation>
    </message>
</context>
<context>
    <name>salvage</name>
    <message>
        <source>#</source>
        <translation>Nr.</translation>
    </message>
    <message>
        <source>, extended L2 entries</source>
        <translation>, erweiterte L2-Einträge</translation>
    </message>
    <message>
        <source>Clusters</source>
        <translation>Cluster</translation>
    </message>
    <message>
        <source>Finishing</source>
        <translation>Schließt ab</translation>
    </message>
    <message>
        <source>Found: {what}.</source>
        <translation>Gefunden: {what}.</translation>
    </message>
    <message>
        <source>Guest from</source>
        <translation>Gast von</translation>
    </message>
    <message>
        <source>Known losses</source>
        <translation>Bekannte Verluste</translation>
    </message>
    <message>
        <source>L2 tables</source>
        <translation>L2-Tabellen</translation>
    </message>
    <message>
        <source>Length</source>
        <translation>Länge</translation>
    </message>
    <message>
        <source>Nothing that could be an L1 or L2 table was found: this was no qcow2 image, or all of its tables are gone.</source>
        <translation>Nichts wurde gefunden, was eine L1- oder L2-Tabelle sein könnte: Das war kein qcow2-Image, oder alle seine Tabellen sind verloren.</translation>
    </message>
    <message>
        <source>Preparing</source>
        <translation>Bereitet vor</translation>
    </message>
    <message>
        <source>Read by</source>
        <translation>Gelesen durch</translation>
    </message>
    <message>
        <source>Score</source>
        <translation>Wertung</translation>
    </message>
    <message>
        <source>Verifying</source>
        <translation>Überprüft</translation>
    </message>
    <message>
        <source>Version {version}, {bytes} bytes, {compression}{wide}, {bits}-bit refcounts</source>
        <translation>Version {version}, {bytes} Bytes, {compression}{wide}, Refcounts von {bits} Bit</translation>
    </message>
    <message>
        <source>Virtual size</source>
        <translation>Virtuelle Größe</translation>
    </message>
    <message>
        <source>What it leaves unused</source>
        <translation>Was er ungenutzt lässt</translation>
    </message>
    <message>
        <source>What it loses</source>
        <translation>Was er verliert</translation>
    </message>
    <message>
        <source>What nothing in the file tells</source>
        <translation>Was nichts in der Datei sagt</translation>
    </message>
    <message>
        <source>What speaks for it</source>
        <translation>Was dafür spricht</translation>
    </message>
    <message>
        <source>Why it is lost</source>
        <translation>Warum es verloren ist</translation>
    </message>
    <message>
        <source>Writing</source>
        <translation>Schreibt</translation>
    </message>
    <message>
        <source>guest {start} – {end}: {reason}</source>
        <translation>Gast {start} – {end}: {reason}</translation>
    </message>
    <message>
        <source>host {start} – {end}</source>
        <translation>Host {start} – {end}</translation>
    </message>
    <message>
        <source>none</source>
        <translation>keine</translation>
    </message>
    <message>
        <source>to</source>
        <translation>bis</translation>
    </message>
    <message>
        <source>{count} damaged</source>
        <translation>{count} beschädigt</translation>
    </message>
    <message>
        <source>{count} lost</source>
        <translation>{count} verloren</translation>
    </message>
    <message>
        <source>{count} whole</source>
        <translation>{count} ganz</translation>
    </message>
    <message>
        <source>{phase}: {done} of {total}</source>
        <translation>{phase}: {done} von {total}</translation>
    </message>
</context>
<context>
    <name>severities</name>
    <message>
        <source>corruption</source>
        <translation>Beschädigung</translation>
    </message>
    <message>
        <source>fatal</source>
        <translation>fatal</translation>
    </message>
    <message>
        <source>leak</source>
        <translation>Leck</translation>
    </message>
    <message>
        <source>note</source>
        <translation>Anmerkung</translation>
    </message>
    <message>
        <source>suspicious</source>
        <translation>verdächtig</translation>
    </message>
</context>
<context>
    <name>states</name>
    <message>
        <source>A host cluster holds it as it is.</source>
        <translation>Ein Host-Cluster enthält ihn, wie er ist.</translation>
    </message>
    <message>
        <source>Behind the end of the guest&apos;s disk.</source>
        <translation>Hinter dem Ende der Platte des Gasts.</translation>
    </message>
    <message>
        <source>Bits of a persistent bitmap: what changed since a backup.</source>
        <translation>Bits eines persistenten Bitmaps: was sich seit einer Sicherung geändert hat.</translation>
    </message>
    <message>
        <source>Counted as used, but nothing refers to it: wasted space, or a lost table&apos;s data.</source>
        <translation>Zählt als benutzt, aber nichts verweist darauf: verschwendeter Platz, oder Daten einer verlorenen Tabelle.</translation>
    </message>
    <message>
        <source>Counts how often clusters are used; it can be rebuilt.</source>
        <translation>Zählt, wie oft Cluster benutzt werden; kann neu aufgebaut werden.</translation>
    </message>
    <message>
        <source>Holds compressed guest clusters, often several of them.</source>
        <translation>Enthält komprimierte Gast-Cluster, oft mehrere.</translation>
    </message>
    <message>
        <source>Holds one cluster of the guest&apos;s disk as it is.</source>
        <translation>Enthält einen Cluster der Platte des Gasts, wie er ist.</translation>
    </message>
    <message>
        <source>In use, but counted as free: the next write may overwrite it.</source>
        <translation>Benutzt, zählt aber als frei: Der nächste Schreibvorgang kann ihn überschreiben.</translation>
    </message>
    <message>
        <source>Inside the file, but nothing uses it; the next write may.</source>
        <translation>In der Datei, aber unbenutzt; der nächste Schreibvorgang kann ihn nehmen.</translation>
    </message>
    <message>
        <source>Its L2 entry contradicts the format: reading it is an error.</source>
        <translation>Sein L2-Eintrag widerspricht dem Format: Ihn zu lesen ist ein Fehler.</translation>
    </message>
    <message>
        <source>Kept for a guest cluster that reads as zeros; its bytes don&apos;t count.</source>
        <translation>Für einen Gast-Cluster vorgehalten, der sich als Nullen liest; seine Bytes zählen nicht.</translation>
    </message>
    <message>
        <source>L1 table</source>
        <translation>L1-Tabelle</translation>
    </message>
    <message>
        <source>L2 table</source>
        <translation>L2-Tabelle</translation>
    </message>
    <message>
        <source>Never written: reads as zeros and takes no space.</source>
        <translation>Nie geschrieben: liest sich als Nullen und braucht keinen Platz.</translation>
    </message>
    <message>
        <source>No cluster of this file: it ends before.</source>
        <translation>Kein Cluster dieser Datei: Sie endet vorher.</translation>
    </message>
    <message>
        <source>Not in this image: reads what the backing file has there.</source>
        <translation>Nicht in diesem Image: liest, was die Backing-Datei dort hat.</translation>
    </message>
    <message>
        <source>Only internal snapshots use it; deleting them would set it free.</source>
        <translation>Nur interne Snapshots benutzen ihn; sie zu löschen gäbe ihn frei.</translation>
    </message>
    <message>
        <source>Part of it is stored; the rest is zeros or not allocated.</source>
        <translation>Ein Teil ist gespeichert; der Rest ist Nullen oder nicht belegt.</translation>
    </message>
    <message>
        <source>Reads as zeros; a host cluster is kept for the next write.</source>
        <translation>Liest sich als Nullen; ein Host-Cluster ist für den nächsten Schreibvorgang vorgehalten.</translation>
    </message>
    <message>
        <source>Referred to, but the file ends before: its bytes are gone.</source>
        <translation>Es wird darauf verwiesen, aber die Datei endet davor: Die Bytes sind verloren.</translation>
    </message>
    <message>
        <source>Said to read as zeros; takes no space.</source>
        <translation>Soll sich als Nullen lesen; braucht keinen Platz.</translation>
    </message>
    <message>
        <source>Says where guest clusters lie; losing it loses the way to all of them.</source>
        <translation>Sagt, wo Gast-Cluster liegen; mit ihr ginge der Weg zu allen verloren.</translation>
    </message>
    <message>
        <source>Says where guest clusters of a snapshot lie; no active table is here.</source>
        <translation>Sagt, wo Gast-Cluster eines Snapshots liegen; keine aktive Tabelle ist hier.</translation>
    </message>
    <message>
        <source>Says where the L2 tables lie; losing it loses the way to the whole disk.</source>
        <translation>Sagt, wo die L2-Tabellen liegen; mit ihr ginge der Weg zur ganzen Platte verloren.</translation>
    </message>
    <message>
        <source>Says where the L2 tables of a snapshot lie.</source>
        <translation>Sagt, wo die L2-Tabellen eines Snapshots liegen.</translation>
    </message>
    <message>
        <source>Says where the refcount blocks lie; it can be rebuilt.</source>
        <translation>Sagt, wo die Refcount-Blöcke liegen; kann neu aufgebaut werden.</translation>
    </message>
    <message>
        <source>Stored compressed; a write unpacks it.</source>
        <translation>Komprimiert gespeichert; ein Schreibvorgang entpackt ihn.</translation>
    </message>
    <message>
        <source>The LUKS header; without it no passphrase opens the image.</source>
        <translation>Der LUKS-Header; ohne ihn öffnet keine Passphrase das Image.</translation>
    </message>
    <message>
        <source>The bitmap directory, or the table of one bitmap.</source>
        <translation>Das Bitmap-Verzeichnis oder die Tabelle eines Bitmaps.</translation>
    </message>
    <message>
        <source>The file ends before its bytes: they are gone, or were never copied.</source>
        <translation>Die Datei endet vor seinen Bytes: Sie sind verloren oder wurden nie kopiert.</translation>
    </message>
    <message>
        <source>The first cluster: sizes, features and where the tables lie.</source>
        <translation>Der erste Cluster: Größen, Merkmale, und wo die Tabellen liegen.</translation>
    </message>
    <message>
        <source>The list of internal snapshots and where their L1 tables lie.</source>
        <translation>Die Liste der internen Snapshots, und wo ihre L1-Tabellen liegen.</translation>
    </message>
    <message>
        <source>The table that would say where it is stored can&apos;t be read.</source>
        <translation>Die Tabelle, die sagen würde, wo er gespeichert ist, kann nicht gelesen werden.</translation>
    </message>
    <message>
        <source>Two owners that exclude each other use it: at least one of them is damaged.</source>
        <translation>Zwei Besitzer, die einander ausschließen, benutzen ihn: Mindestens einer ist beschädigt.</translation>
    </message>
    <message>
        <source>Used less often than counted: it would never be set free.</source>
        <translation>Seltener benutzt als gezählt: Er würde nie frei.</translation>
    </message>
    <message>
        <source>Used more often than counted: it may be set free while still in use.</source>
        <translation>Öfter benutzt als gezählt: Er kann frei werden, obwohl er noch benutzt wird.</translation>
    </message>
    <message>
        <source>beyond the end of the file</source>
        <translation>hinter dem Dateiende</translation>
    </message>
    <message>
        <source>bitmap data</source>
        <translation>Bitmap-Daten</translation>
    </message>
    <message>
        <source>bitmap metadata</source>
        <translation>Bitmap-Metadaten</translation>
    </message>
    <message>
        <source>compressed</source>
        <translation>komprimiert</translation>
    </message>
    <message>
        <source>compressed data</source>
        <translation>komprimierte Daten</translation>
    </message>
    <message>
        <source>contested</source>
        <translation>umstritten</translation>
    </message>
    <message>
        <source>data</source>
        <translation>Daten</translation>
    </message>
    <message>
        <source>encryption header</source>
        <translation>Verschlüsselungs-Header</translation>
    </message>
    <message>
        <source>free</source>
        <translation>frei</translation>
    </message>
    <message>
        <source>from the backing file</source>
        <translation>aus der Backing-Datei</translation>
    </message>
    <message>
        <source>header</source>
        <translation>Header</translation>
    </message>
    <message>
        <source>invalid</source>
        <translation>ungültig</translation>
    </message>
    <message>
        <source>leaked</source>
        <translation>Leck</translation>
    </message>
    <message>
        <source>mixed subclusters</source>
        <translation>gemischte Subcluster</translation>
    </message>
    <message>
        <source>not allocated</source>
        <translation>nicht belegt</translation>
    </message>
    <message>
        <source>outside</source>
        <translation>außerhalb</translation>
    </message>
    <message>
        <source>refcount block</source>
        <translation>Refcount-Block</translation>
    </message>
    <message>
        <source>refcount table</source>
        <translation>Refcount-Tabelle</translation>
    </message>
    <message>
        <source>refcount too high</source>
        <translation>Refcount zu hoch</translation>
    </message>
    <message>
        <source>refcount too low</source>
        <translation>Refcount zu niedrig</translation>
    </message>
    <message>
        <source>snapshot L1 table</source>
        <translation>L1-Tabelle eines Snapshots</translation>
    </message>
    <message>
        <source>snapshot L2 table</source>
        <translation>L2-Tabelle eines Snapshots</translation>
    </message>
    <message>
        <source>snapshot data</source>
        <translation>Snapshot-Daten</translation>
    </message>
    <message>
        <source>snapshot table</source>
        <translation>Snapshot-Tabelle</translation>
    </message>
    <message>
        <source>table missing</source>
        <translation>Tabelle fehlt</translation>
    </message>
    <message>
        <source>used but counted free</source>
        <translation>benutzt, als frei gezählt</translation>
    </message>
    <message>
        <source>zero</source>
        <translation>Nullen</translation>
    </message>
    <message>
        <source>zero, allocated</source>
        <translation>Nullen, belegt</translation>
    </message>
</context>
<context>
    <name>structures</name>
    <message>
        <source>(unknown)</source>
        <translation>(unbekannt)</translation>
    </message>
    <message>
        <source>Backing chain</source>
        <translation>Backing-Kette</translation>
    </message>
    <message>
        <source>Bitmaps</source>
        <translation>Bitmaps</translation>
    </message>
    <message>
        <source>Data file</source>
        <translation>Datendatei</translation>
    </message>
    <message>
        <source>Encryption</source>
        <translation>Verschlüsselung</translation>
    </message>
    <message>
        <source>Entry at</source>
        <translation>Eintrag bei</translation>
    </message>
    <message>
        <source>Extensions</source>
        <translation>Erweiterungen</translation>
    </message>
    <message>
        <source>Features</source>
        <translation>Merkmale</translation>
    </message>
    <message>
        <source>Field</source>
        <translation>Feld</translation>
    </message>
    <message>
        <source>Format</source>
        <translation>Format</translation>
    </message>
    <message>
        <source>Granularity</source>
        <translation>Granularität</translation>
    </message>
    <message>
        <source>Header</source>
        <translation>Header</translation>
    </message>
    <message>
        <source>ID</source>
        <translation>ID</translation>
    </message>
    <message>
        <source>L1 entries</source>
        <translation>L1-Einträge</translation>
    </message>
    <message>
        <source>L1 table</source>
        <translation>L1-Tabelle</translation>
    </message>
    <message>
        <source>L2 table of L1[{index}]</source>
        <translation>L2-Tabelle von L1[{index}]</translation>
    </message>
    <message>
        <source>Leads to</source>
        <translation>Führt zu</translation>
    </message>
    <message>
        <source>Meaning</source>
        <translation>Bedeutung</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>Name in the image</source>
        <translation>Name im Image</translation>
    </message>
    <message>
        <source>Refcount block {index}</source>
        <translation>Refcount-Block {index}</translation>
    </message>
    <message>
        <source>Refcount table</source>
        <translation>Refcount-Tabelle</translation>
    </message>
    <message>
        <source>Snapshots</source>
        <translation>Snapshots</translation>
    </message>
    <message>
        <source>State</source>
        <translation>Zustand</translation>
    </message>
    <message>
        <source>Table at</source>
        <translation>Tabelle bei</translation>
    </message>
    <message>
        <source>Table entries</source>
        <translation>Tabelleneinträge</translation>
    </message>
    <message>
        <source>Table of bitmap “{name}”</source>
        <translation>Tabelle von Bitmap „{name}“</translation>
    </message>
    <message>
        <source>Taken (UTC)</source>
        <translation>Aufgenommen (UTC)</translation>
    </message>
    <message>
        <source>Type</source>
        <translation>Art</translation>
    </message>
    <message>
        <source>VM clock</source>
        <translation>VM-Uhr</translation>
    </message>
    <message>
        <source>VM state</source>
        <translation>VM-Zustand</translation>
    </message>
    <message>
        <source>Value</source>
        <translation>Wert</translation>
    </message>
    <message>
        <source>Virtual size</source>
        <translation>Virtuelle Größe</translation>
    </message>
    <message>
        <source>data</source>
        <translation>Daten</translation>
    </message>
    <message>
        <source>exists, in the image’s folder; not opened</source>
        <translation>vorhanden, im Ordner des Images; nicht geöffnet</translation>
    </message>
    <message>
        <source>exists, outside the image’s folder; not opened</source>
        <translation>vorhanden, außerhalb des Ordners des Images; nicht geöffnet</translation>
    </message>
    <message>
        <source>header bytes beyond the fields known today; kept</source>
        <translation>Bytes des Headers hinter den heute bekannten Feldern; bleiben erhalten</translation>
    </message>
    <message>
        <source>key slot {index}</source>
        <translation>Schlüsselfach {index}</translation>
    </message>
    <message>
        <source>no plain file name: never opened</source>
        <translation>kein einfacher Dateiname: wird nie geöffnet</translation>
    </message>
    <message>
        <source>not found</source>
        <translation>nicht gefunden</translation>
    </message>
    <message>
        <source>not recorded</source>
        <translation>nicht vermerkt</translation>
    </message>
    <message>
        <source>set</source>
        <translation>gesetzt</translation>
    </message>
    <message>
        <source>the format calls it {name}</source>
        <translation>das Format nennt es {name}</translation>
    </message>
    <message>
        <source>the format’s own name</source>
        <translation>der Name aus dem Format</translation>
    </message>
    <message>
        <source>the image’s name for a bit that the format does not define</source>
        <translation>der Name des Images für ein Bit, das das Format nicht festlegt</translation>
    </message>
    <message>
        <source>type {number}, {length} of data</source>
        <translation>Typ {number}, {length} Daten</translation>
    </message>
    <message>
        <source>unknown class</source>
        <translation>unbekannte Klasse</translation>
    </message>
    <message>
        <source>{count} more</source>
        <translation>{count} mehr</translation>
    </message>
    <message>
        <source>{count} set</source>
        <translation>{count} gesetzt</translation>
    </message>
    <message>
        <source>{table}, snapshot “{name}”</source>
        <translation>{table}, Snapshot „{name}“</translation>
    </message>
</context>
<context>
    <name>summary</name>
    <message>
        <source>Allocated</source>
        <translation>Belegt</translation>
    </message>
    <message>
        <source>Backing</source>
        <translation>Backing</translation>
    </message>
    <message>
        <source>Bitmaps</source>
        <translation>Bitmaps</translation>
    </message>
    <message>
        <source>Clusters</source>
        <translation>Cluster</translation>
    </message>
    <message>
        <source>Compressed</source>
        <translation>Komprimiert</translation>
    </message>
    <message>
        <source>Compression</source>
        <translation>Kompression</translation>
    </message>
    <message>
        <source>Data file</source>
        <translation>Datendatei</translation>
    </message>
    <message>
        <source>File size</source>
        <translation>Dateigröße</translation>
    </message>
    <message>
        <source>Fragmented</source>
        <translation>Fragmentiert</translation>
    </message>
    <message>
        <source>Snapshots</source>
        <translation>Snapshots</translation>
    </message>
    <message>
        <source>Version</source>
        <translation>Version</translation>
    </message>
    <message>
        <source>Virtual size</source>
        <translation>Virtuelle Größe</translation>
    </message>
    <message>
        <source>on disk: {size}</source>
        <translation>auf der Festplatte: {size}</translation>
    </message>
    <message>
        <source>the type of compressed clusters, if there are any</source>
        <translation>die Art komprimierter Cluster, falls es welche gibt</translation>
    </message>
    <message>
        <source>{clusters} as zeros</source>
        <translation>{clusters} als Nullen</translation>
    </message>
    <message>
        <source>{compressed} of {stored} that are stored</source>
        <translation>{compressed} von {stored}, die gespeichert sind</translation>
    </message>
    <message>
        <source>{count} of {total} don’t lie behind the one before them in the file</source>
        <translation>{count} von {total} liegen in der Datei nicht hinter dem vorigen</translation>
    </message>
    <message>
        <source>{stored} of {total} of the virtual disk are stored</source>
        <translation>{stored} von {total} der virtuellen Platte sind gespeichert</translation>
    </message>
</context>
<context>
    <name>tree</name>
    <message>
        <source>Block {index}</source>
        <translation>Block {index}</translation>
    </message>
    <message>
        <source>Blocks {first} to {last}</source>
        <translation>Blöcke {first} bis {last}</translation>
    </message>
    <message>
        <source>L1 of “{name}”</source>
        <translation>L1 von „{name}“</translation>
    </message>
    <message>
        <source>L1 table</source>
        <translation>L1-Tabelle</translation>
    </message>
    <message>
        <source>Number {first} to {last}</source>
        <translation>Nummer {first} bis {last}</translation>
    </message>
    <message>
        <source>Refcount table</source>
        <translation>Refcount-Tabelle</translation>
    </message>
    <message>
        <source>Table of “{name}”</source>
        <translation>Tabelle von „{name}“</translation>
    </message>
</context>
<context>
    <name>verdicts</name>
    <message>
        <source>check incomplete: not everything could be looked at</source>
        <translation>Prüfung unvollständig: nicht alles konnte angesehen werden</translation>
    </message>
    <message>
        <source>corrupt: {errors}</source>
        <translation>beschädigt: {errors}</translation>
    </message>
    <message>
        <source>corrupt: {errors}, {leaks}</source>
        <translation>beschädigt: {errors}, {leaks}</translation>
    </message>
    <message>
        <source>fatal: where the guest&apos;s data lies can&apos;t be told from this header</source>
        <translation>fatal: aus diesem Header geht nicht hervor, wo die Daten des Gasts liegen</translation>
    </message>
    <message>
        <source>metadata consistent</source>
        <translation>Metadaten konsistent</translation>
    </message>
    <message>
        <source>metadata consistent but for {leaks}: counted as used, referred to by nothing</source>
        <translation>Metadaten konsistent bis auf {leaks}: als benutzt gezählt, aber ohne Verweis</translation>
    </message>
    <message>
        <source>metadata consistent, with {things}</source>
        <translation>Metadaten konsistent, mit {things}</translation>
    </message>
    <message>
        <source>{verdict}; not everything could be looked at</source>
        <translation>{verdict}; nicht alles konnte angesehen werden</translation>
    </message>
</context>
<context>
    <name>writing</name>
    <message>
        <source>Nothing was left behind.</source>
        <translation>Nichts blieb zurück.</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>Fortschritt</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Stopp</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>Angehalten</translation>
    </message>
</context>
</TS>
