<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>AboutDialog</name>
    <message>
        <source>About qcowgui</source>
        <translation>关于 qcowgui</translation>
    </message>
    <message>
        <source>See inside qcow2 disk images, and convert them.
Free software under the MIT licence.</source>
        <translation>查看 qcow2 磁盘映像的内部结构，并转换映像。
以 MIT 许可证发布的自由软件。</translation>
    </message>
</context>
<context>
    <name>Actions</name>
    <message>
        <source>&amp;About qcowgui</source>
        <translation>关于 qcowgui(&amp;A)</translation>
    </message>
    <message>
        <source>&amp;Back</source>
        <translation>后退(&amp;B)</translation>
    </message>
    <message>
        <source>&amp;Benchmark</source>
        <translation>基准测试(&amp;B)</translation>
    </message>
    <message>
        <source>&amp;Colours</source>
        <translation>颜色(&amp;C)</translation>
    </message>
    <message>
        <source>&amp;Convert…</source>
        <translation>转换(&amp;C)…</translation>
    </message>
    <message>
        <source>&amp;Copy</source>
        <translation>复制(&amp;C)</translation>
    </message>
    <message>
        <source>&amp;Dark</source>
        <translation>深色(&amp;D)</translation>
    </message>
    <message>
        <source>&amp;Deep check</source>
        <translation>深度检查(&amp;D)</translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation>编辑(&amp;E)</translation>
    </message>
    <message>
        <source>&amp;File</source>
        <translation>文件(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Forward</source>
        <translation>前进(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Go</source>
        <translation>转到(&amp;G)</translation>
    </message>
    <message>
        <source>&amp;Go to…</source>
        <translation>转到(&amp;G)…</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>帮助(&amp;H)</translation>
    </message>
    <message>
        <source>&amp;Image</source>
        <translation>映像(&amp;I)</translation>
    </message>
    <message>
        <source>&amp;Keyboard</source>
        <translation>键盘(&amp;K)</translation>
    </message>
    <message>
        <source>&amp;Light</source>
        <translation>浅色(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;Manual</source>
        <translation>手册(&amp;M)</translation>
    </message>
    <message>
        <source>&amp;Next finding</source>
        <translation>下一个发现项(&amp;N)</translation>
    </message>
    <message>
        <source>&amp;Next tab</source>
        <translation>下一个标签页(&amp;N)</translation>
    </message>
    <message>
        <source>&amp;Open…</source>
        <translation>打开(&amp;O)…</translation>
    </message>
    <message>
        <source>&amp;Optimise as a copy…</source>
        <translation>优化为副本(&amp;O)…</translation>
    </message>
    <message>
        <source>&amp;Previous finding</source>
        <translation>上一个发现项(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;Previous tab</source>
        <translation>上一个标签页(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>退出(&amp;Q)</translation>
    </message>
    <message>
        <source>Measure compression, threads and random reads on what the image holds</source>
        <translation>用映像的内容测量压缩、线程和随机读取</translation>
    </message>
    <message>
        <source>Read a&amp;gain</source>
        <translation>重新读取(&amp;G)</translation>
    </message>
    <message>
        <source>&amp;Repair as a copy…</source>
        <translation>修复为副本(&amp;R)…</translation>
    </message>
    <message>
        <source>&amp;Reset layout</source>
        <translation>重置布局(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Salvage…</source>
        <translation>抢救(&amp;S)…</translation>
    </message>
    <message>
        <source>&amp;Settings…</source>
        <translation>设置(&amp;S)…</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>视图(&amp;V)</translation>
    </message>
    <message>
        <source>As the &amp;system</source>
        <translation>跟随系统(&amp;S)</translation>
    </message>
    <message>
        <source>Chec&amp;k</source>
        <translation>检查(&amp;K)</translation>
    </message>
    <message>
        <source>Check all structures and refcounts</source>
        <translation>检查所有结构和引用计数</translation>
    </message>
    <message>
        <source>Check all structures and refcounts, and decode every compressed cluster</source>
        <translation>检查所有结构和引用计数，并解码每个压缩簇</translation>
    </message>
    <message>
        <source>Close &amp;tab</source>
        <translation>关闭标签页(&amp;T)</translation>
    </message>
    <message>
        <source>Com&amp;pare with…</source>
        <translation>比较(&amp;P)…</translation>
    </message>
    <message>
        <source>Copy &amp;diagnostics</source>
        <translation>复制诊断信息(&amp;D)</translation>
    </message>
    <message>
        <source>Copy &amp;rows</source>
        <translation>复制行(&amp;R)</translation>
    </message>
    <message>
        <source>Copy &amp;table</source>
        <translation>复制表格(&amp;T)</translation>
    </message>
    <message>
        <source>Copy the versions of everything and what stands in the log</source>
        <translation>复制所有组件的版本和日志内容</translation>
    </message>
    <message>
        <source>E&amp;xport report…</source>
        <translation>导出报告(&amp;X)…</translation>
    </message>
    <message>
        <source>Show the &amp;conversions</source>
        <translation>显示转换(&amp;C)</translation>
    </message>
    <message>
        <source>Show the &amp;map</source>
        <translation>显示映射图(&amp;M)</translation>
    </message>
    <message>
        <source>Show the &amp;table</source>
        <translation>显示表格(&amp;T)</translation>
    </message>
    <message>
        <source>Show the b&amp;ytes</source>
        <translation>显示字节(&amp;Y)</translation>
    </message>
    <message>
        <source>Show the f&amp;indings</source>
        <translation>显示发现项(&amp;I)</translation>
    </message>
    <message>
        <source>Stop the &amp;check</source>
        <translation>停止检查(&amp;C)</translation>
    </message>
</context>
<context>
    <name>AllowBox</name>
    <message>
        <source>Allow</source>
        <translation>允许</translation>
    </message>
    <message>
        <source>Don’t read them</source>
        <translation>不读取</translation>
    </message>
    <message>
        <source>Not all of them lie in the image’s own folder. An image from a stranger may name any file of yours, and the result would hold a copy of it.</source>
        <translation>并非所有文件都位于映像所在的文件夹中。来自陌生人的映像可能指向您的任何文件，转换结果中会包含该文件的副本。</translation>
    </message>
    <message>
        <source>Read other files?</source>
        <translation>读取其他文件？</translation>
    </message>
    <message>
        <source>The image refers to other files. Read them too?</source>
        <translation>此映像引用了其他文件。也读取这些文件吗？</translation>
    </message>
</context>
<context>
    <name>Banner</name>
    <message>
        <source>Copy details</source>
        <translation>复制详细信息</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>关闭</translation>
    </message>
</context>
<context>
    <name>BenchmarkForm</name>
    <message>
        <source>All that is stored</source>
        <translation>所有已存储的内容</translation>
    </message>
    <message>
        <source>Backends</source>
        <translation>后端</translation>
    </message>
    <message>
        <source>Cluster sizes</source>
        <translation>簇大小</translation>
    </message>
    <message>
        <source>How much of the disk is tried; it is also written to a temporary folder</source>
        <translation>测试磁盘的多少内容；这些内容也会写入临时文件夹</translation>
    </message>
    <message>
        <source>How often each thing is measured</source>
        <translation>每项测量的次数</translation>
    </message>
    <message>
        <source>Let qemu-img, and nbdkit with nbdcopy, convert the sample too, where they are found on this machine</source>
        <translation>如果本机装有 qemu-img 以及 nbdkit 和 nbdcopy，也用它们转换样本</translation>
    </message>
    <message>
        <source>Other programs</source>
        <translation>其他程序</translation>
    </message>
    <message>
        <source>Random reads</source>
        <translation>随机读取</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>轮次</translation>
    </message>
    <message>
        <source>Sample</source>
        <translation>样本</translation>
    </message>
    <message>
        <source>Write an image of each cluster size, and read 4 KiB at random places of it</source>
        <translation>为每种簇大小写一个映像，并在随机位置读取 4 KiB</translation>
    </message>
    <message>
        <source>not installed: pip install &apos;qcowgui[bench]&apos;</source>
        <translation>未安装：pip install &apos;qcowgui[bench]&apos;</translation>
    </message>
</context>
<context>
    <name>BenchmarkView</name>
    <message>
        <source>99 of 100 within</source>
        <translation>百分之九十九不超过</translation>
    </message>
    <message>
        <source>Allow…</source>
        <translation>允许…</translation>
    </message>
    <message>
        <source>Cluster size that the plots show</source>
        <translation>图表所示的簇大小</translation>
    </message>
    <message>
        <source>Codecs</source>
        <translation>编解码器</translation>
    </message>
    <message>
        <source>Compressing</source>
        <translation>压缩</translation>
    </message>
    <message>
        <source>Decompressing</source>
        <translation>解压</translation>
    </message>
    <message>
        <source>JSON (*.json)</source>
        <translation>JSON (*.json)</translation>
    </message>
    <message>
        <source>MB/s by size and level</source>
        <translation>按大小和级别的 MB/s</translation>
    </message>
    <message>
        <source>MB/s by threads</source>
        <translation>按线程数的 MB/s</translation>
    </message>
    <message>
        <source>Measures on what this image holds how small and how fast each type, level and cluster size is, how more threads help, and how long a guest waits for a random read. Close other programs first: they would be measured, too.</source>
        <translation>用此映像的内容测量每种类型、级别和簇大小的压缩率与速度、增加线程的效果，以及客户机随机读取的等待时间。请先关闭其他程序，否则它们也会影响测量结果。</translation>
    </message>
    <message>
        <source>Plots for clusters of</source>
        <translation>图表对应的簇大小</translation>
    </message>
    <message>
        <source>Programs</source>
        <translation>程序</translation>
    </message>
    <message>
        <source>Progress of the benchmark</source>
        <translation>基准测试进度</translation>
    </message>
    <message>
        <source>Random reads</source>
        <translation>随机读取</translation>
    </message>
    <message>
        <source>Random reads against cluster size</source>
        <translation>随机读取与簇大小</translation>
    </message>
    <message>
        <source>Save the figures</source>
        <translation>保存数据</translation>
    </message>
    <message>
        <source>Save…</source>
        <translation>保存…</translation>
    </message>
    <message>
        <source>Speed against size</source>
        <translation>速度与大小</translation>
    </message>
    <message>
        <source>Speed against threads</source>
        <translation>速度与线程数</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>开始</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Stopped before there was a figure.</source>
        <translation>在得到任何数据之前已停止。</translation>
    </message>
    <message>
        <source>Table (*.csv)</source>
        <translation>表格 (*.csv)</translation>
    </message>
    <message>
        <source>The benchmark needs files that this image refers to</source>
        <translation>基准测试需要此映像引用的文件</translation>
    </message>
    <message>
        <source>The figures are saved</source>
        <translation>数据已保存</translation>
    </message>
    <message>
        <source>The figures can’t be saved</source>
        <translation>无法保存数据</translation>
    </message>
    <message>
        <source>The first figures come in a moment…</source>
        <translation>第一批数据即将出现…</translation>
    </message>
    <message>
        <source>This can’t be measured</source>
        <translation>无法测量</translation>
    </message>
    <message>
        <source>What the plots show the speed of</source>
        <translation>图表显示哪一项的速度</translation>
    </message>
    <message>
        <source>µs for a random read</source>
        <translation>每次随机读取的 µs</translation>
    </message>
</context>
<context>
    <name>BitFields</name>
    <message>
        <source>Point at a part, or step with the arrow keys, to have it explained.</source>
        <translation>将鼠标指向某一部分，或用方向键移动，即可查看其说明。</translation>
    </message>
    <message>
        <source>What these bits mean</source>
        <translation>这些位的含义</translation>
    </message>
</context>
<context>
    <name>ChainPanel</name>
    <message>
        <source>Allow…</source>
        <translation>允许…</translation>
    </message>
    <message>
        <source>Copy qemu-img rebase</source>
        <translation>复制 qemu-img rebase 命令</translation>
    </message>
    <message>
        <source>Files of the backing chain</source>
        <translation>后备链中的文件</translation>
    </message>
    <message>
        <source>Locate…</source>
        <translation>定位…</translation>
    </message>
    <message>
        <source>Open in a tab</source>
        <translation>在标签页中打开</translation>
    </message>
    <message>
        <source>Puts a command on the clipboard that writes the new place into the image. This program itself never changes an image.</source>
        <translation>把一条命令放入剪贴板，用于将新位置写入映像。本程序自身从不修改映像。</translation>
    </message>
    <message>
        <source>Where is this file?</source>
        <translation>此文件在哪里？</translation>
    </message>
</context>
<context>
    <name>CloseGuard</name>
    <message>
        <source>Cancel and close</source>
        <translation>取消并关闭</translation>
    </message>
    <message>
        <source>Cancel and close?</source>
        <translation>取消并关闭？</translation>
    </message>
    <message>
        <source>Conversions can be resumed at the next start.</source>
        <translation>下次启动时可以继续转换。</translation>
    </message>
    <message>
        <source>Keep the window open</source>
        <translation>保持窗口打开</translation>
    </message>
    <message>
        <source>What is cancelled leaves nothing behind.</source>
        <translation>被取消的任务不会留下任何文件。</translation>
    </message>
    <message>
        <source>{conversions} not finished yet.</source>
        <translation>{conversions}尚未完成。</translation>
    </message>
    <message>
        <source>{copies} being written.</source>
        <translation>{copies}正在写入。</translation>
    </message>
</context>
<context>
    <name>CompareView</name>
    <message>
        <source>All files (*)</source>
        <translation>所有文件 (*)</translation>
    </message>
    <message>
        <source>Allow…</source>
        <translation>允许…</translation>
    </message>
    <message>
        <source>Another image…</source>
        <translation>另一个映像…</translation>
    </message>
    <message>
        <source>Bitmap “{name}”</source>
        <translation>位图“{name}”</translation>
    </message>
    <message>
        <source>Choose another image, such as a repaired or converted copy, to see which clusters a guest would read differently; or a snapshot or a bitmap of this image, to see what it holds or marks.</source>
        <translation>选择另一个映像（例如修复或转换后的副本），查看客户机会读到哪些不同的簇；或选择此映像的快照或位图，查看它保存或标记了什么。</translation>
    </message>
    <message>
        <source>Choose image…</source>
        <translation>选择映像…</translation>
    </message>
    <message>
        <source>Compare with</source>
        <translation>比较对象</translation>
    </message>
    <message>
        <source>Comparing…</source>
        <translation>正在比较…</translation>
    </message>
    <message>
        <source>Comparing… {share}</source>
        <translation>正在比较… {share}</translation>
    </message>
    <message>
        <source>Disk images (*.qcow2 *.qcow *.img *.raw)</source>
        <translation>磁盘映像 (*.qcow2 *.qcow *.img *.raw)</translation>
    </message>
    <message>
        <source>Guest’s disk against</source>
        <translation>客户机磁盘，对照</translation>
    </message>
    <message>
        <source>Map of the differences</source>
        <translation>差异映射图</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>下一个</translation>
    </message>
    <message>
        <source>No further difference in this direction.</source>
        <translation>此方向上没有更多差异。</translation>
    </message>
    <message>
        <source>Previous</source>
        <translation>上一个</translation>
    </message>
    <message>
        <source>Snapshot “{name}”</source>
        <translation>快照“{name}”</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Stopped.</source>
        <translation>已停止。</translation>
    </message>
    <message>
        <source>The comparison needs files that this image refers to</source>
        <translation>比较需要此映像引用的文件</translation>
    </message>
    <message>
        <source>The next difference</source>
        <translation>下一个差异</translation>
    </message>
    <message>
        <source>The previous difference</source>
        <translation>上一个差异</translation>
    </message>
    <message>
        <source>This can’t be compared</source>
        <translation>无法比较</translation>
    </message>
    <message>
        <source>What the guest’s disk is compared with</source>
        <translation>客户机磁盘的比较对象</translation>
    </message>
    <message>
        <source>guest</source>
        <translation>客户机</translation>
    </message>
</context>
<context>
    <name>ConcernList</name>
    <message>
        <source>What to know before the start</source>
        <translation>开始前须知</translation>
    </message>
    <message>
        <source>and {count} more</source>
        <translation>以及另外 {count} 项</translation>
    </message>
</context>
<context>
    <name>ConversionsPanel</name>
    <message>
        <source>Conversions</source>
        <translation>转换</translation>
    </message>
    <message>
        <source>No conversion yet: drop images or folders here, or File → Convert… (Ctrl+E)</source>
        <translation>尚无转换：将映像或文件夹拖放到此处，或选择“文件 → 转换…”(Ctrl+E)</translation>
    </message>
</context>
<context>
    <name>ConvertDialog</name>
    <message>
        <source>Choose the image to convert</source>
        <translation>选择要转换的映像</translation>
    </message>
    <message>
        <source>Convert</source>
        <translation>转换</translation>
    </message>
    <message>
        <source>Keep</source>
        <translation>保留</translation>
    </message>
    <message>
        <source>Not everything can be converted</source>
        <translation>并非所有内容都能转换</translation>
    </message>
    <message>
        <source>Nothing of this can be converted</source>
        <translation>这些内容都无法转换</translation>
    </message>
    <message>
        <source>Settings of a conversion</source>
        <translation>转换设置</translation>
    </message>
    <message>
        <source>This does not suit {names}.</source>
        <translation>这不适用于 {names}。</translation>
    </message>
</context>
<context>
    <name>DataTable</name>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Copy rows</source>
        <translation>复制行</translation>
    </message>
    <message>
        <source>Copy table</source>
        <translation>复制表格</translation>
    </message>
</context>
<context>
    <name>Ending</name>
    <message>
        <source>Copied.</source>
        <translation>已复制。</translation>
    </message>
    <message>
        <source>Copied. qemu-img can’t be told, or does in another way:</source>
        <translation>已复制。以下内容无法告知 qemu-img，或它的处理方式不同：</translation>
    </message>
    <message>
        <source>Copy as qcowgui command</source>
        <translation>复制为 qcowgui 命令</translation>
    </message>
    <message>
        <source>Copy as qemu-img command</source>
        <translation>复制为 qemu-img 命令</translation>
    </message>
    <message>
        <source>Copy command</source>
        <translation>复制命令</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>开始</translation>
    </message>
</context>
<context>
    <name>EntryFilterBar</name>
    <message>
        <source>Allocated</source>
        <translation>已分配</translation>
    </message>
    <message>
        <source>Any kind</source>
        <translation>任意类型</translation>
    </message>
    <message>
        <source>Filter</source>
        <translation>筛选</translation>
    </message>
    <message>
        <source>Filter: word, digits or 0x…</source>
        <translation>筛选：词、数字或 0x…</translation>
    </message>
    <message>
        <source>Go to entry</source>
        <translation>转到条目</translation>
    </message>
    <message>
        <source>Kind of entries shown</source>
        <translation>显示的条目类型</translation>
    </message>
    <message>
        <source>Only entries of which something is wrong</source>
        <translation>仅显示有问题的条目</translation>
    </message>
    <message>
        <source>Only entries that name a cluster, or count one in use</source>
        <translation>仅显示指向簇或计入已用簇的条目</translation>
    </message>
    <message>
        <source>The number of an entry, decimal or with 0x</source>
        <translation>条目编号，十进制或以 0x 开头</translation>
    </message>
    <message>
        <source>This is no number.</source>
        <translation>这不是数字。</translation>
    </message>
    <message>
        <source>With findings</source>
        <translation>有发现项</translation>
    </message>
    <message>
        <source>Words of the kind, the flags, the use or a finding; hexadecimal digits of raw
words and offsets, with 0x their first ones; or the number of an entry.</source>
        <translation>类型、标志、用途或发现项中的词；原始字和偏移量的
十六进制数字，带 0x 时从首位匹配；或条目编号。</translation>
    </message>
    <message>
        <source>{count} …</source>
        <translation>{count} …</translation>
    </message>
    <message>
        <source>{shown} of {total}</source>
        <translation>{shown} / {total}</translation>
    </message>
</context>
<context>
    <name>EntryGrid</name>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Copy rows</source>
        <translation>复制行</translation>
    </message>
    <message>
        <source>Copy table</source>
        <translation>复制表格</translation>
    </message>
    <message>
        <source>Follow</source>
        <translation>跟随</translation>
    </message>
</context>
<context>
    <name>EntryTable</name>
    <message>
        <source>Copied {count}.</source>
        <translation>已复制 {count}。</translation>
    </message>
    <message>
        <source>Reading the table…</source>
        <translation>正在读取表…</translation>
    </message>
    <message>
        <source>Select a table in the structures.</source>
        <translation>请在结构中选择一个表。</translation>
    </message>
    <message>
        <source>The image names no table here.</source>
        <translation>映像在此处没有指向任何表。</translation>
    </message>
    <message>
        <source>The table can&apos;t be read: {reason}</source>
        <translation>无法读取该表：{reason}</translation>
    </message>
    <message>
        <source>The table has no entry {entry}.</source>
        <translation>该表没有条目 {entry}。</translation>
    </message>
    <message>
        <source>There were {count}: more can&apos;t be copied at once.</source>
        <translation>共有 {count}：一次不能复制更多。</translation>
    </message>
    <message>
        <source>This cluster is not in the image file.</source>
        <translation>该簇不在映像文件中。</translation>
    </message>
    <message>
        <source>This entry points to nothing.</source>
        <translation>此条目没有指向任何内容。</translation>
    </message>
    <message>
        <source>{count} more should follow; the file ends before them.</source>
        <translation>后面还应有 {count}；文件在此之前就结束了。</translation>
    </message>
</context>
<context>
    <name>FindingsBar</name>
    <message>
        <source>Filter findings</source>
        <translation>筛选发现项</translation>
    </message>
    <message>
        <source>Filter: words, a code or an offset</source>
        <translation>筛选：词、代码或偏移量</translation>
    </message>
    <message>
        <source>Next finding</source>
        <translation>下一个发现项</translation>
    </message>
    <message>
        <source>Previous finding</source>
        <translation>上一个发现项</translation>
    </message>
    <message>
        <source>Show findings: {severity}</source>
        <translation>显示发现项：{severity}</translation>
    </message>
</context>
<context>
    <name>FindingsModel</name>
    <message>
        <source>Code</source>
        <translation>代码</translation>
    </message>
    <message>
        <source>Count</source>
        <translation>数量</translation>
    </message>
    <message>
        <source>Format description, section {spec}</source>
        <translation>格式说明，第 {spec} 节</translation>
    </message>
    <message>
        <source>Guest range</source>
        <translation>客户机范围</translation>
    </message>
    <message>
        <source>Repaired by</source>
        <translation>修复方式</translation>
    </message>
    <message>
        <source>Severity</source>
        <translation>严重程度</translation>
    </message>
    <message>
        <source>What</source>
        <translation>内容</translation>
    </message>
    <message>
        <source>Where</source>
        <translation>位置</translation>
    </message>
    <message>
        <source>collapsed</source>
        <translation>已折叠</translation>
    </message>
    <message>
        <source>expanded</source>
        <translation>已展开</translation>
    </message>
    <message>
        <source>other snapshots</source>
        <translation>其他快照</translation>
    </message>
    <message>
        <source>snapshot {index}</source>
        <translation>快照 {index}</translation>
    </message>
    <message>
        <source>{count} – press Enter to list them</source>
        <translation>{count} – 按 Enter 列出</translation>
    </message>
    <message>
        <source>{count}, too many to be listed</source>
        <translation>{count}，过多而无法列出</translation>
    </message>
    <message>
        <source>{count}: they are being looked for…</source>
        <translation>{count}：正在查找…</translation>
    </message>
</context>
<context>
    <name>FindingsPanel</name>
    <message>
        <source>No finding is shown.</source>
        <translation>没有显示任何发现项。</translation>
    </message>
    <message>
        <source>No finding passes the filter.</source>
        <translation>没有符合筛选条件的发现项。</translation>
    </message>
    <message>
        <source>Nothing to report so far.</source>
        <translation>目前没有要报告的内容。</translation>
    </message>
    <message>
        <source>This finding is about no single place: {place}</source>
        <translation>此发现项不涉及单一位置：{place}</translation>
    </message>
    <message>
        <source>{findings} listed</source>
        <translation>已列出 {findings}</translation>
    </message>
</context>
<context>
    <name>FindingsTable</name>
    <message>
        <source>Copy all that is shown</source>
        <translation>复制显示的全部内容</translation>
    </message>
    <message>
        <source>Copy rows</source>
        <translation>复制行</translation>
    </message>
    <message>
        <source>Findings</source>
        <translation>发现项</translation>
    </message>
    <message>
        <source>List all of this kind</source>
        <translation>列出此类全部</translation>
    </message>
</context>
<context>
    <name>FolderField</name>
    <message>
        <source>Browse…</source>
        <translation>浏览…</translation>
    </message>
    <message>
        <source>{name}: browse</source>
        <translation>{name}：浏览</translation>
    </message>
</context>
<context>
    <name>ForecastChart</name>
    <message>
        <source>Forecast: size against time</source>
        <translation>预测：大小与时间</translation>
    </message>
    <message>
        <source>not compressed</source>
        <translation>未压缩</translation>
    </message>
</context>
<context>
    <name>ForecastPanel</name>
    <message>
        <source>A raw disk takes what is stored: nothing to forecast.</source>
        <translation>raw 磁盘占用的就是存储的内容：无需预测。</translation>
    </message>
    <message>
        <source>Forecast</source>
        <translation>预测</translation>
    </message>
    <message>
        <source>Forecast again</source>
        <translation>重新预测</translation>
    </message>
    <message>
        <source>Progress of the forecast</source>
        <translation>预测进度</translation>
    </message>
    <message>
        <source>Samples of the disk are being tried…</source>
        <translation>正在用磁盘样本测试…</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Take the settings of the selected row into the form</source>
        <translation>将所选行的设置填入表单</translation>
    </message>
    <message>
        <source>The settings of the form were not among what was tried.</source>
        <translation>表单中的设置不在测试范围内。</translation>
    </message>
    <message>
        <source>Tries the types and levels on samples of the disk and shows how large and how quick each would be.</source>
        <translation>用磁盘样本测试各种类型和级别，并显示各自的大小和速度。</translation>
    </message>
    <message>
        <source>Use this</source>
        <translation>采用</translation>
    </message>
</context>
<context>
    <name>GoToDialog</name>
    <message>
        <source>Go</source>
        <translation>转到</translation>
    </message>
    <message>
        <source>Go to</source>
        <translation>转到</translation>
    </message>
    <message>
        <source>The image is not there.</source>
        <translation>映像不存在。</translation>
    </message>
    <message>
        <source>Where to</source>
        <translation>目标位置</translation>
    </message>
</context>
<context>
    <name>HexFooter</name>
    <message>
        <source>Big-endian</source>
        <translation>大端</translation>
    </message>
    <message>
        <source>Can’t be read: {reason}</source>
        <translation>无法读取：{reason}</translation>
    </message>
    <message>
        <source>Little-endian</source>
        <translation>小端</translation>
    </message>
    <message>
        <source>Selected bytes</source>
        <translation>选中的字节</translation>
    </message>
    <message>
        <source>The first selected bytes as numbers</source>
        <translation>选中的前几个字节（作为数字）</translation>
    </message>
    <message>
        <source>The order of bytes in numbers; qcow2’s own are big-endian throughout</source>
        <translation>数字的字节顺序；qcow2 自身的数字一律为大端</translation>
    </message>
</context>
<context>
    <name>HexPainter</name>
    <message>
        <source>Offset</source>
        <translation>偏移量</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>文本</translation>
    </message>
    <message>
        <source>{name} · cluster {index}</source>
        <translation>{name} · 簇 {index}</translation>
    </message>
</context>
<context>
    <name>HexPanel</name>
    <message>
        <source>Bytes</source>
        <translation>字节</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>已复制</translation>
    </message>
    <message>
        <source>Copied; {lost} of it can’t be read and became zeros</source>
        <translation>已复制；其中 {lost} 无法读取，已变为零</translation>
    </message>
    <message>
        <source>Found, after going round the end</source>
        <translation>已找到（越过末尾从头继续）</translation>
    </message>
    <message>
        <source>Go to offset</source>
        <translation>转到偏移量</translation>
    </message>
    <message>
        <source>Not found</source>
        <translation>未找到</translation>
    </message>
    <message>
        <source>Offset: 0x1_0000, 64k, +16</source>
        <translation>偏移量：0x1_0000、64k、+16</translation>
    </message>
    <message>
        <source>Opening the guest’s disk…</source>
        <translation>正在打开客户机磁盘…</translation>
    </message>
    <message>
        <source>Search stopped</source>
        <translation>搜索已停止</translation>
    </message>
    <message>
        <source>Searching… {share} (Esc stops)</source>
        <translation>正在搜索… {share}（Esc 停止）</translation>
    </message>
    <message>
        <source>The guest’s data can’t be shown: {reason}.</source>
        <translation>无法显示客户机数据：{reason}。</translation>
    </message>
    <message>
        <source>can’t be read: {reason}</source>
        <translation>无法读取：{reason}</translation>
    </message>
    <message>
        <source>{size} are too many to copy; {limit} at once can be</source>
        <translation>{size} 太多，无法复制；一次最多 {limit}</translation>
    </message>
</context>
<context>
    <name>HexSearchBar</name>
    <message>
        <source>Find next (F3)</source>
        <translation>查找下一个 (F3)</translation>
    </message>
    <message>
        <source>Find previous (Shift+F3)</source>
        <translation>查找上一个 (Shift+F3)</translation>
    </message>
    <message>
        <source>Hex</source>
        <translation>十六进制</translation>
    </message>
    <message>
        <source>Search bytes or text</source>
        <translation>搜索字节或文本</translation>
    </message>
    <message>
        <source>Search for</source>
        <translation>搜索内容</translation>
    </message>
    <message>
        <source>Search text</source>
        <translation>搜索文本</translation>
    </message>
    <message>
        <source>Search: 51 46 ?? fb</source>
        <translation>搜索：51 46 ?? fb</translation>
    </message>
    <message>
        <source>Text, UTF-16</source>
        <translation>文本，UTF-16</translation>
    </message>
    <message>
        <source>Text, UTF-8</source>
        <translation>文本，UTF-8</translation>
    </message>
</context>
<context>
    <name>HexView</name>
    <message>
        <source>Copy as Base64</source>
        <translation>复制为 Base64</translation>
    </message>
    <message>
        <source>Copy as C array</source>
        <translation>复制为 C 数组</translation>
    </message>
    <message>
        <source>Copy as Python bytes</source>
        <translation>复制为 Python bytes</translation>
    </message>
    <message>
        <source>Copy as hex</source>
        <translation>复制为十六进制</translation>
    </message>
    <message>
        <source>Copy as hex dump</source>
        <translation>复制为十六进制转储</translation>
    </message>
    <message>
        <source>Copy as text</source>
        <translation>复制为文本</translation>
    </message>
    <message>
        <source>Select line (L)</source>
        <translation>选择行 (L)</translation>
    </message>
    <message>
        <source>Select the marked bytes</source>
        <translation>选择标记的字节</translation>
    </message>
    <message>
        <source>Select word (W)</source>
        <translation>选择字 (W)</translation>
    </message>
    <message>
        <source>no bytes</source>
        <translation>没有字节</translation>
    </message>
</context>
<context>
    <name>HintsBanner</name>
    <message>
        <source>Next hint, this is {place}</source>
        <translation>下一条提示，当前为 {place}</translation>
    </message>
    <message>
        <source>{number} of {count}</source>
        <translation>第 {number} 条，共 {count} 条</translation>
    </message>
</context>
<context>
    <name>ImageTabs</name>
    <message>
        <source>Close tab</source>
        <translation>关闭标签页</translation>
    </message>
    <message>
        <source>Close {name}</source>
        <translation>关闭 {name}</translation>
    </message>
</context>
<context>
    <name>ImageView</name>
    <message>
        <source>({more}, listed in the findings)</source>
        <translation>（{more}，见发现项列表）</translation>
    </message>
    <message>
        <source>Backing chain</source>
        <translation>后备链</translation>
    </message>
    <message>
        <source>Benchmark</source>
        <translation>基准测试</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>比较</translation>
    </message>
    <message>
        <source>Convert to qcow2…</source>
        <translation>转换为 qcow2…</translation>
    </message>
    <message>
        <source>Map</source>
        <translation>映射图</translation>
    </message>
    <message>
        <source>QEMU would refuse this image</source>
        <translation>QEMU 会拒绝此映像</translation>
    </message>
    <message>
        <source>Reading {name}…</source>
        <translation>正在读取 {name}…</translation>
    </message>
    <message>
        <source>Salvage…</source>
        <translation>抢救…</translation>
    </message>
    <message>
        <source>Table</source>
        <translation>表</translation>
    </message>
    <message>
        <source>This is no image that can be shown; its bytes are in the Hex panel below.</source>
        <translation>这不是可以显示的映像；其字节显示在下方的十六进制面板中。</translation>
    </message>
    <message>
        <source>This program can still read its guest data.</source>
        <translation>本程序仍可读取其客户机数据。</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>What the header says is shown below; guest data can&apos;t be read from this image.</source>
        <translation>文件头的内容显示在下方；无法从此映像读取客户机数据。</translation>
    </message>
    <message>
        <source>{name} can&apos;t be shown</source>
        <translation>无法显示 {name}</translation>
    </message>
    <message>
        <source>{name} is not a qcow2 image</source>
        <translation>{name} 不是 qcow2 映像</translation>
    </message>
</context>
<context>
    <name>Inspector</name>
    <message>
        <source>Copy everything that is said here</source>
        <translation>复制此处的全部内容</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>详细信息</translation>
    </message>
    <message>
        <source>Inspector</source>
        <translation>检查器</translation>
    </message>
    <message>
        <source>Next entry</source>
        <translation>下一个条目</translation>
    </message>
    <message>
        <source>Nothing to inspect yet</source>
        <translation>尚无可查看的内容</translation>
    </message>
    <message>
        <source>Owners</source>
        <translation>所有者</translation>
    </message>
    <message>
        <source>Previous entry</source>
        <translation>上一个条目</translation>
    </message>
    <message>
        <source>Source</source>
        <translation>来源</translation>
    </message>
    <message>
        <source>What is selected</source>
        <translation>选中的内容</translation>
    </message>
    <message>
        <source>What it says</source>
        <translation>其含义</translation>
    </message>
</context>
<context>
    <name>JobRow</name>
    <message>
        <source>Allow…</source>
        <translation>允许…</translation>
    </message>
    <message>
        <source>Begin again</source>
        <translation>重新开始</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Continue with zeros where the source can’t be read, and list the losses</source>
        <translation>源无法读取之处以零继续，并列出损失</translation>
    </message>
    <message>
        <source>Copy as qcowgui command</source>
        <translation>复制为 qcowgui 命令</translation>
    </message>
    <message>
        <source>Copy as qemu-img command</source>
        <translation>复制为 qemu-img 命令</translation>
    </message>
    <message>
        <source>Copy details</source>
        <translation>复制详细信息</translation>
    </message>
    <message>
        <source>Copy lost ranges</source>
        <translation>复制丢失的范围</translation>
    </message>
    <message>
        <source>Copy this row</source>
        <translation>复制此行</translation>
    </message>
    <message>
        <source>Drag the file out of here to wherever it is wanted.</source>
        <translation>可将文件从此处拖到需要的位置。</translation>
    </message>
    <message>
        <source>Inspect result</source>
        <translation>查看结果</translation>
    </message>
    <message>
        <source>Inspect source</source>
        <translation>查看源</translation>
    </message>
    <message>
        <source>More about this conversion</source>
        <translation>关于此转换的更多操作</translation>
    </message>
    <message>
        <source>Open folder</source>
        <translation>打开文件夹</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>暂停</translation>
    </message>
    <message>
        <source>Progress of converting</source>
        <translation>转换进度</translation>
    </message>
    <message>
        <source>Progress of verifying</source>
        <translation>校验进度</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>移除</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Run earlier</source>
        <translation>提前执行</translation>
    </message>
    <message>
        <source>Run later</source>
        <translation>推后执行</translation>
    </message>
    <message>
        <source>Salvage</source>
        <translation>抢救</translation>
    </message>
    <message>
        <source>Settings…</source>
        <translation>设置…</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
</context>
<context>
    <name>KeyboardDialog</name>
    <message>
        <source>Keyboard</source>
        <translation>键盘</translation>
    </message>
    <message>
        <source>Keys</source>
        <translation>按键</translation>
    </message>
</context>
<context>
    <name>KnownFields</name>
    <message>
        <source>Cluster size of the damaged image</source>
        <translation>损坏映像的簇大小</translation>
    </message>
    <message>
        <source>Compression of the damaged image</source>
        <translation>损坏映像的压缩类型</translation>
    </message>
    <message>
        <source>Search again</source>
        <translation>重新搜索</translation>
    </message>
    <message>
        <source>The virtual disk&apos;s size, such as 20G</source>
        <translation>虚拟磁盘的大小，例如 20G</translation>
    </message>
    <message>
        <source>Virtual size of the damaged image</source>
        <translation>损坏映像的虚拟大小</translation>
    </message>
    <message>
        <source>What you know better:</source>
        <translation>您确知的信息：</translation>
    </message>
    <message>
        <source>clusters of {size}</source>
        <translation>簇大小 {size}</translation>
    </message>
    <message>
        <source>clusters: as found</source>
        <translation>簇大小：按查找结果</translation>
    </message>
    <message>
        <source>compression: as found</source>
        <translation>压缩：按查找结果</translation>
    </message>
    <message>
        <source>size: as found</source>
        <translation>大小：按查找结果</translation>
    </message>
</context>
<context>
    <name>Lack</name>
    <message>
        <source>No fonts are installed: no text can be shown. Install one, such as DejaVu Sans.</source>
        <translation>未安装字体：无法显示文本。请安装一种字体，例如 DejaVu Sans。</translation>
    </message>
    <message>
        <source>The locale’s encoding is {encoding}: files whose names have other characters may not be found. Start with a UTF-8 locale, as with LC_ALL=C.UTF-8.</source>
        <translation>区域设置的编码为 {encoding}：名称含有其他字符的文件可能无法找到。请用 UTF-8 区域设置启动，例如 LC_ALL=C.UTF-8。</translation>
    </message>
    <message>
        <source>There is no session bus: the window can’t follow the desktop’s colours.</source>
        <translation>没有会话总线：窗口无法跟随桌面的颜色。</translation>
    </message>
</context>
<context>
    <name>Legend</name>
    <message>
        <source>Click: only this state. Double click: hide it.</source>
        <translation>单击：仅显示此状态。双击：隐藏它。</translation>
    </message>
    <message>
        <source>Clusters</source>
        <translation>簇</translation>
    </message>
    <message>
        <source>Legend: states, clusters and sizes</source>
        <translation>图例：状态、簇数和大小</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>大小</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
</context>
<context>
    <name>LiveFile</name>
    <message>
        <source>It is in use: what is shown is as it was, and may not fit together.</source>
        <translation>文件正在使用中：显示的是读取时的内容，可能前后不一致。</translation>
    </message>
    <message>
        <source>It was moved, renamed or deleted. What is shown is as it was when it was read.</source>
        <translation>文件已被移动、重命名或删除。显示的是读取时的内容。</translation>
    </message>
    <message>
        <source>Read again</source>
        <translation>重新读取</translation>
    </message>
    <message>
        <source>The file can’t be looked at any more</source>
        <translation>无法再访问该文件</translation>
    </message>
    <message>
        <source>The file is no longer there</source>
        <translation>文件已不存在</translation>
    </message>
    <message>
        <source>The file was changed on disk</source>
        <translation>磁盘上的文件已被修改</translation>
    </message>
    <message>
        <source>The file was changed on disk and read again at {time}</source>
        <translation>磁盘上的文件已被修改，并于 {time} 重新读取</translation>
    </message>
    <message>
        <source>The file was cut short on disk</source>
        <translation>磁盘上的文件被截短</translation>
    </message>
    <message>
        <source>What is shown is as it was when it was read.</source>
        <translation>显示的是读取时的内容。</translation>
    </message>
    <message>
        <source>What is shown is as it was; bytes at its end are gone.</source>
        <translation>显示的是读取时的内容；末尾的字节已不存在。</translation>
    </message>
</context>
<context>
    <name>LogPanel</name>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Copy the lines that are shown</source>
        <translation>复制显示的行</translation>
    </message>
    <message>
        <source>Filter</source>
        <translation>筛选</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>日志</translation>
    </message>
    <message>
        <source>Nothing has happened yet.</source>
        <translation>尚无任何记录。</translation>
    </message>
    <message>
        <source>Only lines with these words</source>
        <translation>仅显示含有这些词的行</translation>
    </message>
    <message>
        <source>Problems only</source>
        <translation>仅显示问题</translation>
    </message>
</context>
<context>
    <name>MainWindow</name>
    <message>
        <source>A copy of this image is being written: stop that first.</source>
        <translation>正在写入此映像的副本：请先停止。</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>所有文件 (*)</translation>
    </message>
    <message>
        <source>Commands</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>Images are opened for reading only: whatever writes asks for a new file.</source>
        <translation>映像以只读方式打开：写入操作都会要求指定新文件。</translation>
    </message>
    <message>
        <source>Not everything that was dropped can be opened</source>
        <translation>拖放的内容并非都能打开</translation>
    </message>
    <message>
        <source>Open &amp;recent</source>
        <translation>最近打开的文件(&amp;R)</translation>
    </message>
    <message>
        <source>Open disk images</source>
        <translation>打开磁盘映像</translation>
    </message>
    <message>
        <source>Report written: {files}</source>
        <translation>报告已写入：{files}</translation>
    </message>
    <message>
        <source>The samples can’t be made</source>
        <translation>无法生成示例</translation>
    </message>
    <message>
        <source>qcow2 images (*.qcow2 *.qcow *.img)</source>
        <translation>qcow2 映像 (*.qcow2 *.qcow *.img)</translation>
    </message>
    <message>
        <source>read-only</source>
        <translation>只读</translation>
    </message>
</context>
<context>
    <name>ManualBrowser</name>
    <message>
        <source>Page of the manual</source>
        <translation>手册页面</translation>
    </message>
</context>
<context>
    <name>ManualDialog</name>
    <message>
        <source>Back</source>
        <translation>后退</translation>
    </message>
    <message>
        <source>Contents of the manual</source>
        <translation>手册目录</translation>
    </message>
    <message>
        <source>Forward</source>
        <translation>前进</translation>
    </message>
    <message>
        <source>Manual</source>
        <translation>手册</translation>
    </message>
    <message>
        <source>Nothing found</source>
        <translation>未找到</translation>
    </message>
    <message>
        <source>Search the manual</source>
        <translation>搜索手册</translation>
    </message>
    <message>
        <source>{page} – Manual</source>
        <translation>{page} – 手册</translation>
    </message>
</context>
<context>
    <name>MapPane</name>
    <message>
        <source> · {clusters} of {size}</source>
        <translation> · {clusters}，每个 {size}</translation>
    </message>
    <message>
        <source> · {mode}: working…</source>
        <translation> · {mode}：正在处理…</translation>
    </message>
    <message>
        <source> · ◥ has findings</source>
        <translation> · ◥ 有发现项</translation>
    </message>
    <message>
        <source>Checking… {share}</source>
        <translation>正在检查… {share}</translation>
    </message>
    <message>
        <source>File</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>Guest’s disk</source>
        <translation>客户机磁盘</translation>
    </message>
    <message>
        <source>Map of the file’s clusters</source>
        <translation>文件簇映射图</translation>
    </message>
    <message>
        <source>Map of the guest’s disk</source>
        <translation>客户机磁盘映射图</translation>
    </message>
    <message>
        <source>Part of the image</source>
        <translation>映像的一部分</translation>
    </message>
    <message>
        <source>Part {number} of {count}</source>
        <translation>第 {number} 部分，共 {count} 部分</translation>
    </message>
    <message>
        <source>Reading the tables…</source>
        <translation>正在读取各表…</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>The check did not finish: there is no map.</source>
        <translation>检查没有完成：没有映射图。</translation>
    </message>
    <message>
        <source>This image can’t be mapped; the findings say why.</source>
        <translation>无法绘制此映像的映射图；原因见发现项。</translation>
    </message>
    <message>
        <source>{mode}: {share}</source>
        <translation>{mode}：{share}</translation>
    </message>
</context>
<context>
    <name>MapTools</name>
    <message>
        <source>Along a Hilbert curve: neighbours stay together</source>
        <translation>沿希尔伯特曲线：相邻的簇保持相邻</translation>
    </message>
    <message>
        <source>Both</source>
        <translation>两者</translation>
    </message>
    <message>
        <source>Both, beside each other</source>
        <translation>两者并排</translation>
    </message>
    <message>
        <source>Colour by</source>
        <translation>着色依据</translation>
    </message>
    <message>
        <source>Colour: {mode}</source>
        <translation>着色：{mode}</translation>
    </message>
    <message>
        <source>Every cluster on its own (1)</source>
        <translation>每个簇单独显示 (1)</translation>
    </message>
    <message>
        <source>File</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>Guest</source>
        <translation>客户机</translation>
    </message>
    <message>
        <source>Hilbert</source>
        <translation>希尔伯特</translation>
    </message>
    <message>
        <source>Linear</source>
        <translation>线性</translation>
    </message>
    <message>
        <source>Map tools</source>
        <translation>映射图工具</translation>
    </message>
    <message>
        <source>Row by row</source>
        <translation>逐行</translation>
    </message>
    <message>
        <source>Save as a picture…</source>
        <translation>另存为图片…</translation>
    </message>
    <message>
        <source>Show everything (0)</source>
        <translation>显示全部 (0)</translation>
    </message>
    <message>
        <source>The file’s clusters</source>
        <translation>文件的簇</translation>
    </message>
    <message>
        <source>The guest’s disk</source>
        <translation>客户机磁盘</translation>
    </message>
    <message>
        <source>What the clusters are coloured by</source>
        <translation>簇的着色依据</translation>
    </message>
    <message>
        <source>Zoom in (+)</source>
        <translation>放大 (+)</translation>
    </message>
    <message>
        <source>Zoom out (-)</source>
        <translation>缩小 (-)</translation>
    </message>
</context>
<context>
    <name>MapView</name>
    <message>
        <source>All states</source>
        <translation>所有状态</translation>
    </message>
    <message>
        <source>Bytes</source>
        <translation>字节</translation>
    </message>
    <message>
        <source>Clusters</source>
        <translation>簇</translation>
    </message>
    <message>
        <source>Copy as a row</source>
        <translation>复制为一行</translation>
    </message>
    <message>
        <source>Copy cluster</source>
        <translation>复制簇</translation>
    </message>
    <message>
        <source>Copy legend</source>
        <translation>复制图例</translation>
    </message>
    <message>
        <source>No other cluster: {state}</source>
        <translation>没有其他此类簇：{state}</translation>
    </message>
    <message>
        <source>Only this state</source>
        <translation>仅此状态</translation>
    </message>
    <message>
        <source>PNG image (*.png)</source>
        <translation>PNG 图片 (*.png)</translation>
    </message>
    <message>
        <source>SVG image (*.svg)</source>
        <translation>SVG 图片 (*.svg)</translation>
    </message>
    <message>
        <source>Save as a picture…</source>
        <translation>另存为图片…</translation>
    </message>
    <message>
        <source>Save the map</source>
        <translation>保存映射图</translation>
    </message>
    <message>
        <source>Saved {path}</source>
        <translation>已保存 {path}</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>{count} clusters</source>
        <translation>{count} 个簇</translation>
    </message>
</context>
<context>
    <name>MixedMarks</name>
    <message>
        <source>several</source>
        <translation>多种</translation>
    </message>
</context>
<context>
    <name>QueueBar</name>
    <message>
        <source>Cancel all</source>
        <translation>全部取消</translation>
    </message>
    <message>
        <source>Convert…</source>
        <translation>转换…</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>暂停</translation>
    </message>
    <message>
        <source>Progress of all conversions</source>
        <translation>所有转换的进度</translation>
    </message>
    <message>
        <source>Remove finished</source>
        <translation>移除已完成</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Resume all</source>
        <translation>全部继续</translation>
    </message>
</context>
<context>
    <name>RangesModel</name>
    <message>
        <source>Clusters</source>
        <translation>簇</translation>
    </message>
    <message>
        <source>First cluster</source>
        <translation>首个簇</translation>
    </message>
    <message>
        <source>Offset</source>
        <translation>偏移量</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>大小</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
</context>
<context>
    <name>RangesTable</name>
    <message>
        <source>Ranges of clusters by state</source>
        <translation>按状态划分的簇范围</translation>
    </message>
</context>
<context>
    <name>RecentFiles</name>
    <message>
        <source>Clear list</source>
        <translation>清空列表</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>Recent files</source>
        <translation>最近的文件</translation>
    </message>
    <message>
        <source>Remove from list</source>
        <translation>从列表中移除</translation>
    </message>
</context>
<context>
    <name>RepairDialog</name>
    <message>
        <source>(behind the end)</source>
        <translation>（在末尾之后）</translation>
    </message>
    <message>
        <source>After</source>
        <translation>之后</translation>
    </message>
    <message>
        <source>Afterwards: {verdict}</source>
        <translation>修复后：{verdict}</translation>
    </message>
    <message>
        <source>All that can be decided</source>
        <translation>所有可以判定的问题</translation>
    </message>
    <message>
        <source>Before</source>
        <translation>之前</translation>
    </message>
    <message>
        <source>Before and after</source>
        <translation>之前与之后</translation>
    </message>
    <message>
        <source>Before and after  {count}</source>
        <translation>之前与之后  {count}</translation>
    </message>
    <message>
        <source>Changes</source>
        <translation>更改</translation>
    </message>
    <message>
        <source>Checked again after it was written. The edits changed {written}; {source} itself is as it was.</source>
        <translation>写入后已再次检查。共更改 {written}；{source} 本身保持不变。</translation>
    </message>
    <message>
        <source>Checking the copy before it takes its name…</source>
        <translation>正在检查副本，然后才为其命名…</translation>
    </message>
    <message>
        <source>Code</source>
        <translation>代码</translation>
    </message>
    <message>
        <source>Compare every guest byte</source>
        <translation>比较客户机的每个字节</translation>
    </message>
    <message>
        <source>Decode compressed clusters</source>
        <translation>解码压缩簇</translation>
    </message>
    <message>
        <source>Finds wrong sector counts, and puts them right</source>
        <translation>查找并修正错误的扇区数</translation>
    </message>
    <message>
        <source>Frees clusters that nothing refers to although they may hold what lost tables
mapped. Look for the tables with Salvage first.</source>
        <translation>释放没有被引用的簇，尽管其中可能保存着丢失的表所映射的
内容。请先用“抢救”查找这些表。</translation>
    </message>
    <message>
        <source>Give back space even if tables are lost</source>
        <translation>即使有表丢失也释放空间</translation>
    </message>
    <message>
        <source>Left as it is</source>
        <translation>保持原样</translation>
    </message>
    <message>
        <source>No copy was written</source>
        <translation>没有写入副本</translation>
    </message>
    <message>
        <source>No plan was made</source>
        <translation>没有制定计划</translation>
    </message>
    <message>
        <source>Notes, and what is left  {count}</source>
        <translation>备注及剩余问题  {count}</translation>
    </message>
    <message>
        <source>Nothing can be repaired: the copy would be the same.</source>
        <translation>没有可修复的内容：副本将完全相同。</translation>
    </message>
    <message>
        <source>Now: {verdict}</source>
        <translation>当前：{verdict}</translation>
    </message>
    <message>
        <source>Offset</source>
        <translation>偏移量</translation>
    </message>
    <message>
        <source>Only refcounts that are too high</source>
        <translation>仅修复过高的引用计数</translation>
    </message>
    <message>
        <source>Open the copy</source>
        <translation>打开副本</translation>
    </message>
    <message>
        <source>Plan again</source>
        <translation>重新计划</translation>
    </message>
    <message>
        <source>Planning the repair, and proving the plan in memory…</source>
        <translation>正在计划修复，并在内存中验证计划…</translation>
    </message>
    <message>
        <source>Proves the plan on the whole disk, not only on what edited entries map</source>
        <translation>在整个磁盘上验证计划，而不仅是被修改条目所映射的部分</translation>
    </message>
    <message>
        <source>Repair {name} as a copy</source>
        <translation>将 {name} 修复为副本</translation>
    </message>
    <message>
        <source>Repaired copy</source>
        <translation>修复后的副本</translation>
    </message>
    <message>
        <source>Salvage…</source>
        <translation>抢救…</translation>
    </message>
    <message>
        <source>The file to make</source>
        <translation>要生成的文件</translation>
    </message>
    <message>
        <source>The image is not there.</source>
        <translation>映像不存在。</translation>
    </message>
    <message>
        <source>There are more; qcowgui repair --plan lists them all.</source>
        <translation>还有更多；qcowgui repair --plan 可列出全部。</translation>
    </message>
    <message>
        <source>What is repaired</source>
        <translation>修复内容</translation>
    </message>
    <message>
        <source>What is repaired  {count}</source>
        <translation>修复内容  {count}</translation>
    </message>
    <message>
        <source>What to repair</source>
        <translation>要修复什么</translation>
    </message>
    <message>
        <source>What was wrong</source>
        <translation>原有问题</translation>
    </message>
    <message>
        <source>Why</source>
        <translation>原因</translation>
    </message>
    <message>
        <source>Write the repaired copy</source>
        <translation>写入修复后的副本</translation>
    </message>
    <message>
        <source>Writing: {done} of {total}</source>
        <translation>正在写入：{done} / {total}</translation>
    </message>
    <message>
        <source>{name} is written: {verdict}</source>
        <translation>{name} 已写入：{verdict}</translation>
    </message>
</context>
<context>
    <name>ReplaceBox</name>
    <message>
        <source>Replace</source>
        <translation>替换</translation>
    </message>
    <message>
        <source>Replace the file?</source>
        <translation>替换文件？</translation>
    </message>
    <message>
        <source>Replace the files?</source>
        <translation>替换这些文件？</translation>
    </message>
    <message>
        <source>Until then, and when writing fails, it stays as it is.</source>
        <translation>在此之前以及写入失败时，它保持不变。</translation>
    </message>
    <message>
        <source>Until then, and when writing fails, they stay as they are.</source>
        <translation>在此之前以及写入失败时，它们保持不变。</translation>
    </message>
    <message>
        <source>{count} files exist. Replace each once the new one is complete?</source>
        <translation>已有 {count} 个文件存在。在新文件完成后逐一替换吗？</translation>
    </message>
    <message>
        <source>{name} exists. Replace it once the new one is complete?</source>
        <translation>{name} 已存在。在新文件完成后替换它吗？</translation>
    </message>
</context>
<context>
    <name>ReportExport</name>
    <message>
        <source>Export report</source>
        <translation>导出报告</translation>
    </message>
    <message>
        <source>HTML page alone (*.html)</source>
        <translation>仅 HTML 页面 (*.html)</translation>
    </message>
    <message>
        <source>HTML page, with JSON beside it (*.html)</source>
        <translation>HTML 页面，附 JSON 文件 (*.html)</translation>
    </message>
    <message>
        <source>JSON alone (*.json)</source>
        <translation>仅 JSON (*.json)</translation>
    </message>
    <message>
        <source>Page alone</source>
        <translation>仅页面</translation>
    </message>
    <message>
        <source>Replace</source>
        <translation>替换</translation>
    </message>
    <message>
        <source>{name} exists already. Replace it, too?</source>
        <translation>{name} 已存在。也替换它吗？</translation>
    </message>
</context>
<context>
    <name>SalvageDialog</name>
    <message>
        <source>About this candidate</source>
        <translation>关于此候选项</translation>
    </message>
    <message>
        <source>Backing file</source>
        <translation>后备文件</translation>
    </message>
    <message>
        <source>Candidates</source>
        <translation>候选项</translation>
    </message>
    <message>
        <source>Choose a name for the new image</source>
        <translation>为新映像选择名称</translation>
    </message>
    <message>
        <source>Compression of the new image</source>
        <translation>新映像的压缩类型</translation>
    </message>
    <message>
        <source>Format of the new image</source>
        <translation>新映像的格式</translation>
    </message>
    <message>
        <source>Known losses  {count}</source>
        <translation>已知损失  {count}</translation>
    </message>
    <message>
        <source>Looking for tables…</source>
        <translation>正在查找表…</translation>
    </message>
    <message>
        <source>Losses</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>Losses  {count}</source>
        <translation>损失  {count}</translation>
    </message>
    <message>
        <source>New image</source>
        <translation>新映像</translation>
    </message>
    <message>
        <source>Nothing was written</source>
        <translation>没有写入任何内容</translation>
    </message>
    <message>
        <source>Open the result</source>
        <translation>打开结果</translation>
    </message>
    <message>
        <source>Salvage {name}</source>
        <translation>抢救 {name}</translation>
    </message>
    <message>
        <source>Searching: {done} of {total}</source>
        <translation>正在搜索：{done} / {total}</translation>
    </message>
    <message>
        <source>The file is not there</source>
        <translation>文件不存在</translation>
    </message>
    <message>
        <source>The file to make</source>
        <translation>要生成的文件</translation>
    </message>
    <message>
        <source>The header names one; without it, what it held is lost</source>
        <translation>文件头指明了一个；没有它，其中的内容就会丢失</translation>
    </message>
    <message>
        <source>The lost image&apos;s backing file, if it had one</source>
        <translation>丢失映像的后备文件（如果有）</translation>
    </message>
    <message>
        <source>The search failed</source>
        <translation>搜索失败</translation>
    </message>
    <message>
        <source>This is no size</source>
        <translation>这不是有效的大小</translation>
    </message>
    <message>
        <source>What is lost reads as zeros; the list is also in {name}.</source>
        <translation>丢失的部分读作零；列表也保存在 {name} 中。</translation>
    </message>
    <message>
        <source>Write the new image</source>
        <translation>写入新映像</translation>
    </message>
    <message>
        <source>not compressed</source>
        <translation>未压缩</translation>
    </message>
    <message>
        <source>{name} is written; all that this candidate maps could be read</source>
        <translation>{name} 已写入；此候选项映射的内容全部可读</translation>
    </message>
    <message>
        <source>{name} is written; {lost} could not be read</source>
        <translation>{name} 已写入；{lost} 无法读取</translation>
    </message>
    <message>
        <source>{size} virtual, a file of {file}, read again and compared.</source>
        <translation>虚拟大小 {size}，文件大小 {file}，已重新读取并比较。</translation>
    </message>
</context>
<context>
    <name>Scout</name>
    <message>
        <source>A forecast needs {names}: allow it first.</source>
        <translation>预测需要 {names}：请先允许读取。</translation>
    </message>
</context>
<context>
    <name>Session</name>
    <message>
        <source>the program made a mistake</source>
        <translation>程序出现错误</translation>
    </message>
</context>
<context>
    <name>Settings</name>
    <message>
        <source>The settings can’t be kept: {path} can’t be written.</source>
        <translation>无法保存设置：无法写入 {path}。</translation>
    </message>
    <message>
        <source>The settings in {path} are damaged: what can’t be read of them has its default.</source>
        <translation>{path} 中的设置已损坏：无法读取的部分使用默认值。</translation>
    </message>
</context>
<context>
    <name>SettingsColumn</name>
    <message>
        <source>More settings</source>
        <translation>更多设置</translation>
    </message>
</context>
<context>
    <name>SettingsDialog</name>
    <message>
        <source>A colour for each state</source>
        <translation>每种状态一种颜色</translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation>外观</translation>
    </message>
    <message>
        <source>As the system</source>
        <translation>跟随系统</translation>
    </message>
    <message>
        <source>Begin with</source>
        <translation>默认预设</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>深色</translation>
    </message>
    <message>
        <source>Everything holds at once. A conversion’s own settings win over these.</source>
        <translation>所有设置立即生效。转换自身的设置优先于此处的设置。</translation>
    </message>
    <message>
        <source>Folder for results</source>
        <translation>结果文件夹</translation>
    </message>
    <message>
        <source>Folder with images</source>
        <translation>含映像的文件夹</translation>
    </message>
    <message>
        <source>Greys; only problems in colour</source>
        <translation>灰度；仅问题以彩色显示</translation>
    </message>
    <message>
        <source>Images are in</source>
        <translation>映像所在位置</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>语言</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>浅色</translation>
    </message>
    <message>
        <source>Map</source>
        <translation>映射图</translation>
    </message>
    <message>
        <source>New conversions</source>
        <translation>新的转换</translation>
    </message>
    <message>
        <source>Opening</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>Results go to</source>
        <translation>结果保存到</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>The one that was used last</source>
        <translation>上次使用的</translation>
    </message>
    <message>
        <source>Theme</source>
        <translation>主题</translation>
    </message>
    <message>
        <source>Threads</source>
        <translation>线程数</translation>
    </message>
    <message>
        <source>Verify: read each result again and compare it</source>
        <translation>校验：重新读取每个结果并比较</translation>
    </message>
    <message>
        <source>as the last time; at first beside the source</source>
        <translation>与上次相同；首次与源文件同处</translation>
    </message>
    <message>
        <source>one for each core ({count})</source>
        <translation>每个核心一个（{count}）</translation>
    </message>
    <message>
        <source>where the last image was</source>
        <translation>上一个映像所在的位置</translation>
    </message>
</context>
<context>
    <name>SidePanel</name>
    <message>
        <source>Legend</source>
        <translation>图例</translation>
    </message>
    <message>
        <source>Ranges</source>
        <translation>范围</translation>
    </message>
</context>
<context>
    <name>SourceSection</name>
    <message>
        <source>Add files…</source>
        <translation>添加文件…</translation>
    </message>
    <message>
        <source>Allow…</source>
        <translation>允许…</translation>
    </message>
    <message>
        <source>Also reads {names}, as you allowed.</source>
        <translation>按您的许可，还会读取 {names}。</translation>
    </message>
    <message>
        <source>Choose files…</source>
        <translation>选择文件…</translation>
    </message>
    <message>
        <source>Folder with images</source>
        <translation>含映像的文件夹</translation>
    </message>
    <message>
        <source>Folder…</source>
        <translation>文件夹…</translation>
    </message>
    <message>
        <source>Images to convert</source>
        <translation>要转换的映像</translation>
    </message>
    <message>
        <source>Refers to {names}: read only if you allow it.</source>
        <translation>引用了 {names}：仅在您允许时读取。</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>移除</translation>
    </message>
    <message>
        <source>Source</source>
        <translation>源</translation>
    </message>
    <message>
        <source>Take the selected images off this list</source>
        <translation>从列表中移除所选映像</translation>
    </message>
    <message>
        <source>The image to read; it is not changed</source>
        <translation>要读取的映像；不会被修改</translation>
    </message>
    <message>
        <source>The settings are for all {count} images.</source>
        <translation>设置适用于全部 {count} 个映像。</translation>
    </message>
    <message>
        <source>The settings are for the selected image alone, of {all}.</source>
        <translation>设置仅适用于所选的映像（共 {all} 个）。</translation>
    </message>
    <message>
        <source>The settings are for the {count} selected images of {all}.</source>
        <translation>设置适用于所选的 {count} 个映像（共 {all} 个）。</translation>
    </message>
</context>
<context>
    <name>SpaceSwitch</name>
    <message>
        <source>Active disk</source>
        <translation>活动磁盘</translation>
    </message>
    <message>
        <source>File</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>Guest disk</source>
        <translation>客户机磁盘</translation>
    </message>
    <message>
        <source>Guest disk: {name}</source>
        <translation>客户机磁盘：{name}</translation>
    </message>
    <message>
        <source>The bytes of the image file</source>
        <translation>映像文件的字节</translation>
    </message>
    <message>
        <source>The bytes that the guest sees, decoded</source>
        <translation>客户机看到的字节（已解码）</translation>
    </message>
</context>
<context>
    <name>StartPage</name>
    <message>
        <source>Compressed</source>
        <translation>压缩</translation>
    </message>
    <message>
        <source>Convert…</source>
        <translation>转换…</translation>
    </message>
    <message>
        <source>Damaged</source>
        <translation>损坏</translation>
    </message>
    <message>
        <source>Drop disk images here</source>
        <translation>将磁盘映像拖放到此处</translation>
    </message>
    <message>
        <source>Healthy</source>
        <translation>健康</translation>
    </message>
    <message>
        <source>Making the samples…</source>
        <translation>正在生成示例…</translation>
    </message>
    <message>
        <source>No image at hand? Try a sample:</source>
        <translation>手边没有映像？试试示例：</translation>
    </message>
    <message>
        <source>Open…</source>
        <translation>打开…</translation>
    </message>
    <message>
        <source>Recent files</source>
        <translation>最近的文件</translation>
    </message>
    <message>
        <source>See what is inside a qcow2 image, or convert it.
Files are opened for reading only; nothing is changed.</source>
        <translation>查看 qcow2 映像的内部，或转换它。
文件以只读方式打开；不会修改任何内容。</translation>
    </message>
    <message>
        <source>Try a sample: {name}</source>
        <translation>试用示例：{name}</translation>
    </message>
</context>
<context>
    <name>StructureTreeModel</name>
    <message>
        <source> or more</source>
        <translation> 或更多</translation>
    </message>
    <message>
        <source>has findings</source>
        <translation>有发现项</translation>
    </message>
    <message>
        <source>reading…</source>
        <translation>正在读取…</translation>
    </message>
    <message>
        <source>unreadable</source>
        <translation>无法读取</translation>
    </message>
</context>
<context>
    <name>StructureTreeView</name>
    <message>
        <source>Structures</source>
        <translation>结构</translation>
    </message>
</context>
<context>
    <name>TargetField</name>
    <message>
        <source>Browse…</source>
        <translation>浏览…</translation>
    </message>
</context>
<context>
    <name>TargetFields</name>
    <message>
        <source>0.10 – version 2, for QEMU before 1.1</source>
        <translation>0.10 – 版本 2，适用于 1.1 之前的 QEMU</translation>
    </message>
    <message>
        <source>1.1 – version 3</source>
        <translation>1.1 – 版本 3</translation>
    </message>
    <message>
        <source>32 KiB – smaller, for common readers</source>
        <translation>32 KiB – 更小，适用于常见的读取程序</translation>
    </message>
    <message>
        <source>4 KiB – as qemu-img writes, for strict readers</source>
        <translation>4 KiB – 与 qemu-img 相同，适用于严格的读取程序</translation>
    </message>
    <message>
        <source>Backing file</source>
        <translation>后备文件</translation>
    </message>
    <message>
        <source>Cluster size</source>
        <translation>簇大小</translation>
    </message>
    <message>
        <source>Compat</source>
        <translation>兼容级别</translation>
    </message>
    <message>
        <source>Compression</source>
        <translation>压缩</translation>
    </message>
    <message>
        <source>Copy the persistent bitmaps</source>
        <translation>复制持久位图</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>磁盘</translation>
    </message>
    <message>
        <source>Extended L2 entries (32 subclusters a cluster)</source>
        <translation>扩展 L2 表项（每簇 32 个子簇）</translation>
    </message>
    <message>
        <source>Format</source>
        <translation>格式</translation>
    </message>
    <message>
        <source>Format of the backing file</source>
        <translation>后备文件的格式</translation>
    </message>
    <message>
        <source>Holes from</source>
        <translation>空洞起始大小</translation>
    </message>
    <message>
        <source>Lazy refcounts</source>
        <translation>延迟引用计数 (lazy refcounts)</translation>
    </message>
    <message>
        <source>Level</source>
        <translation>级别</translation>
    </message>
    <message>
        <source>Name of the backing file</source>
        <translation>后备文件名</translation>
    </message>
    <message>
        <source>Refcount bits</source>
        <translation>引用计数位数</translation>
    </message>
    <message>
        <source>Salvage: zeros for what can&apos;t be read, and a list</source>
        <translation>抢救：无法读取的部分写零，并列出清单</translation>
    </message>
    <message>
        <source>Set aside</source>
        <translation>预分配</translation>
    </message>
    <message>
        <source>Snapshots</source>
        <translation>快照</translation>
    </message>
    <message>
        <source>Source is</source>
        <translation>源格式</translation>
    </message>
    <message>
        <source>Threads</source>
        <translation>线程数</translation>
    </message>
    <message>
        <source>Verify: read the result again and compare it</source>
        <translation>校验：重新读取结果并比较</translation>
    </message>
    <message>
        <source>a place in the file for each cluster</source>
        <translation>为每个簇在文件中预留位置</translation>
    </message>
    <message>
        <source>are left behind</source>
        <translation>不复制</translation>
    </message>
    <message>
        <source>as it will be stored, seen from the target</source>
        <translation>从目标所在位置看到的名称，原样存储</translation>
    </message>
    <message>
        <source>as its content shows</source>
        <translation>按其内容判断</translation>
    </message>
    <message>
        <source>become a chain, the active disk on top</source>
        <translation>成为一条链，活动磁盘在最上层</translation>
    </message>
    <message>
        <source>become an image each</source>
        <translation>各成为一个映像</translation>
    </message>
    <message>
        <source>default: {level}  ({lowest} – {highest})</source>
        <translation>默认：{level}  ({lowest} – {highest})</translation>
    </message>
    <message>
        <source>flatten: one file with everything</source>
        <translation>展平：一个文件包含全部</translation>
    </message>
    <message>
        <source>keep the source’s own backing file</source>
        <translation>保留源自己的后备文件</translation>
    </message>
    <message>
        <source>keep this backing file:</source>
        <translation>保留此后备文件：</translation>
    </message>
    <message>
        <source>no compression</source>
        <translation>不压缩</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>none: write every zero</source>
        <translation>无：写入每个零</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>无</translation>
    </message>
    <message>
        <source>one for each core ({count})</source>
        <translation>每个核心一个（{count}）</translation>
    </message>
    <message>
        <source>qcow2 – QEMU’s image format</source>
        <translation>qcow2 – QEMU 的映像格式</translation>
    </message>
    <message>
        <source>raw – a plain disk image</source>
        <translation>raw – 普通磁盘映像</translation>
    </message>
    <message>
        <source>the active disk</source>
        <translation>活动磁盘</translation>
    </message>
    <message>
        <source>the space of the whole disk</source>
        <translation>整个磁盘的空间</translation>
    </message>
    <message>
        <source>the whole disk, written with zeros</source>
        <translation>整个磁盘，写入零</translation>
    </message>
    <message>
        <source>zlib window</source>
        <translation>zlib 窗口</translation>
    </message>
    <message>
        <source>zlib – every reader knows it</source>
        <translation>zlib – 所有读取程序都支持</translation>
    </message>
    <message>
        <source>zstd – faster, usually smaller</source>
        <translation>zstd – 更快，通常更小</translation>
    </message>
</context>
<context>
    <name>TargetSection</name>
    <message>
        <source>Browse…</source>
        <translation>浏览…</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>文件夹</translation>
    </message>
    <message>
        <source>Folder for the results</source>
        <translation>结果所在的文件夹</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>Target</source>
        <translation>目标</translation>
    </message>
    <message>
        <source>The file to make</source>
        <translation>要生成的文件</translation>
    </message>
    <message>
        <source>beside the sources</source>
        <translation>与源文件同处</translation>
    </message>
</context>
<context>
    <name>ThroughputPlot</name>
    <message>
        <source>MB/s over seconds; right of the dashed line it verifies</source>
        <translation>MB/s 随时间（秒）；虚线右侧为校验阶段</translation>
    </message>
    <message>
        <source>Speed of the conversion over time</source>
        <translation>转换速度随时间的变化</translation>
    </message>
    <message>
        <source>in</source>
        <translation>读</translation>
    </message>
    <message>
        <source>out</source>
        <translation>写</translation>
    </message>
</context>
<context>
    <name>Trail</name>
    <message>
        <source>The way to the selected guest byte</source>
        <translation>到所选客户机字节的路径</translation>
    </message>
    <message>
        <source>Wheel: zoom   Drag: move   Shift and drag: a range   Arrows: step   N P: the next and the previous of its state</source>
        <translation>滚轮：缩放   拖动：移动   Shift 加拖动：选择范围   方向键：逐格   N P：同一状态的下一个和上一个</translation>
    </message>
</context>
<context>
    <name>WindowConversions</name>
    <message>
        <source>Conversions finished</source>
        <translation>转换完成</translation>
    </message>
    <message>
        <source>Conversions finished, not all of them well</source>
        <translation>转换完成，但并非全部成功</translation>
    </message>
    <message>
        <source>Not everything that was dropped can be converted</source>
        <translation>拖放的内容并非都能转换</translation>
    </message>
    <message>
        <source>Nothing was changed</source>
        <translation>没有任何更改</translation>
    </message>
    <message>
        <source>The queue of conversions can’t be kept for the next start: {reason}</source>
        <translation>无法为下次启动保存转换队列：{reason}</translation>
    </message>
    <message>
        <source>{name} has begun meanwhile, with the settings it had.</source>
        <translation>{name} 已用原来的设置开始。</translation>
    </message>
</context>
<context>
    <name>WindowDocks</name>
    <message>
        <source>Conversions</source>
        <translation>转换</translation>
    </message>
    <message>
        <source>Findings</source>
        <translation>发现项</translation>
    </message>
    <message>
        <source>Hex</source>
        <translation>十六进制</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>日志</translation>
    </message>
    <message>
        <source>No image is open.</source>
        <translation>没有打开的映像。</translation>
    </message>
</context>
<context>
    <name>WindowHost</name>
    <message>
        <source>The language changes when everything that runs has ended.</source>
        <translation>所有正在运行的任务结束后将切换语言。</translation>
    </message>
</context>
<context>
    <name>WindowLog</name>
    <message>
        <source>cancelled</source>
        <translation>已取消</translation>
    </message>
    <message>
        <source>check failed: {reason}</source>
        <translation>检查失败：{reason}</translation>
    </message>
    <message>
        <source>check stopped</source>
        <translation>检查已停止</translation>
    </message>
    <message>
        <source>converted</source>
        <translation>已转换</translation>
    </message>
    <message>
        <source>interrupted</source>
        <translation>已中断</translation>
    </message>
    <message>
        <source>{path}: read</source>
        <translation>{path}：已读取</translation>
    </message>
</context>
<context>
    <name>WindowNotices</name>
    <message>
        <source>Report: {path}</source>
        <translation>报告：{path}</translation>
    </message>
    <message>
        <source>Show in its folder</source>
        <translation>在文件夹中显示</translation>
    </message>
    <message>
        <source>Some things are missing on this system</source>
        <translation>此系统缺少某些组件</translation>
    </message>
    <message>
        <source>Something went wrong that should not have; your files are as they were.</source>
        <translation>发生了不应出现的错误；您的文件保持原样。</translation>
    </message>
    <message>
        <source>The report could not be written</source>
        <translation>无法写入报告</translation>
    </message>
    <message>
        <source>The report says where in the program that was, and nothing of your files.</source>
        <translation>报告仅说明错误在程序中的位置，不含您文件的任何内容。</translation>
    </message>
    <message>
        <source>qcowgui ended unexpectedly the last time.</source>
        <translation>qcowgui 上次意外退出。</translation>
    </message>
</context>
<context>
    <name>benchmark</name>
    <message>
        <source>99 of 100, µs</source>
        <translation>99% 不超过，µs</translation>
    </message>
    <message>
        <source>Backend</source>
        <translation>后端</translation>
    </message>
    <message>
        <source>Cluster</source>
        <translation>簇</translation>
    </message>
    <message>
        <source>Compress, MB/s</source>
        <translation>压缩，MB/s</translation>
    </message>
    <message>
        <source>Compressing and decompressing…</source>
        <translation>正在压缩和解压…</translation>
    </message>
    <message>
        <source>Conversion</source>
        <translation>转换</translation>
    </message>
    <message>
        <source>Converting with each program: {done} of {total}…</source>
        <translation>用各程序转换：{done} / {total}…</translation>
    </message>
    <message>
        <source>Decompress, MB/s</source>
        <translation>解压，MB/s</translation>
    </message>
    <message>
        <source>File</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>Half within, µs</source>
        <translation>半数不超过，µs</translation>
    </message>
    <message>
        <source>Level</source>
        <translation>级别</translation>
    </message>
    <message>
        <source>Ratio</source>
        <translation>比率</translation>
    </message>
    <message>
        <source>Reading at random places…</source>
        <translation>正在随机位置读取…</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>大小</translation>
    </message>
    <message>
        <source>Taking a sample of the disk…</source>
        <translation>正在采集磁盘样本…</translation>
    </message>
    <message>
        <source>The machine was busy: a thread had {share} of a core, so the figures are lower than they could be.</source>
        <translation>机器繁忙：一个线程只占用核心的 {share}，因此数据低于应有水平。</translation>
    </message>
    <message>
        <source>Threads</source>
        <translation>线程数</translation>
    </message>
    <message>
        <source>Type</source>
        <translation>类型</translation>
    </message>
    <message>
        <source>compression type {kind}</source>
        <translation>压缩类型 {kind}</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>not compressed</source>
        <translation>未压缩</translation>
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
        <translation>{program}，秒</translation>
    </message>
    <message>
        <source>{sampled} of {stored} tried, {runs}; {system}, {cores}</source>
        <translation>测试了 {stored} 中的 {sampled}，{runs}；{system}，{cores}</translation>
    </message>
</context>
<context>
    <name>bits</name>
    <message>
        <source>Bitmap flags</source>
        <translation>位图标志</translation>
    </message>
    <message>
        <source>Bitmap table entry</source>
        <translation>位图表项</translation>
    </message>
    <message>
        <source>Compressed cluster descriptor</source>
        <translation>压缩簇描述符</translation>
    </message>
    <message>
        <source>L1 entry</source>
        <translation>L1 表项</translation>
    </message>
    <message>
        <source>L2 entry</source>
        <translation>L2 表项</translation>
    </message>
    <message>
        <source>Refcount</source>
        <translation>引用计数</translation>
    </message>
    <message>
        <source>Refcount table entry</source>
        <translation>引用计数表项</translation>
    </message>
    <message>
        <source>Subcluster bitmap</source>
        <translation>子簇位图</translation>
    </message>
    <message>
        <source>a subcluster can’t have data and read as zeros</source>
        <translation>子簇不能既有数据又读作零</translation>
    </message>
    <message>
        <source>how often the cluster is used</source>
        <translation>该簇被使用的次数</translation>
    </message>
    <message>
        <source>means nothing today</source>
        <translation>目前没有含义</translation>
    </message>
    <message>
        <source>must be zero</source>
        <translation>必须为零</translation>
    </message>
    <message>
        <source>must be zero beside an offset</source>
        <translation>有偏移量时必须为零</translation>
    </message>
    <message>
        <source>must be zero for a compressed cluster</source>
        <translation>压缩簇的此位必须为零</translation>
    </message>
    <message>
        <source>must be zero in extended entries: the bitmap says it</source>
        <translation>扩展表项中必须为零：由位图表示</translation>
    </message>
    <message>
        <source>must be zero in version 2</source>
        <translation>版本 2 中必须为零</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>not saved cleanly: its bits can’t be trusted</source>
        <translation>未正常保存：其中的位不可信</translation>
    </message>
    <message>
        <source>records as soon as the image is written</source>
        <translation>映像一被写入就开始记录</translation>
    </message>
    <message>
        <source>there is no host cluster that could have the data</source>
        <translation>没有可存放这些数据的宿主簇</translation>
    </message>
    <message>
        <source>usable by who does not know the extra data</source>
        <translation>不了解附加数据的程序也可使用</translation>
    </message>
</context>
<context>
    <name>chain</name>
    <message>
        <source>A file of that name lies beside the image: {path}</source>
        <translation>映像旁边有同名文件：{path}</translation>
    </message>
    <message>
        <source>Disk size</source>
        <translation>磁盘大小</translation>
    </message>
    <message>
        <source>File</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>File length</source>
        <translation>文件长度</translation>
    </message>
    <message>
        <source>Files that an image names are opened only when you agree: “Allow…”.</source>
        <translation>映像所指的文件仅在您同意后才打开：“允许…”。</translation>
    </message>
    <message>
        <source>Format</source>
        <translation>格式</translation>
    </message>
    <message>
        <source>It lies outside the image’s folder: only allow what you expect.</source>
        <translation>它位于映像的文件夹之外：只允许您预期的文件。</translation>
    </message>
    <message>
        <source>Layer</source>
        <translation>层</translation>
    </message>
    <message>
        <source>No format is recorded: a guest could have written what was recognised as one.</source>
        <translation>没有记录格式：识别出的格式可能是客户机写入的内容。</translation>
    </message>
    <message>
        <source>Nothing is there. The file may have been moved or renamed.</source>
        <translation>那里没有文件。文件可能已被移动或重命名。</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>The image still names the old place; this tab reads the file where it is now.</source>
        <translation>映像仍指向旧位置；此标签页从新位置读取文件。</translation>
    </message>
    <message>
        <source>The {kind} {name} of {image}.</source>
        <translation>{image} 的{kind} {name}。</translation>
    </message>
    <message>
        <source>a loop</source>
        <translation>循环引用</translation>
    </message>
    <message>
        <source>can’t be read</source>
        <translation>无法读取</translation>
    </message>
    <message>
        <source>data file</source>
        <translation>数据文件</translation>
    </message>
    <message>
        <source>exists, not opened</source>
        <translation>存在，未打开</translation>
    </message>
    <message>
        <source>missing</source>
        <translation>缺失</translation>
    </message>
    <message>
        <source>neither file nor block device</source>
        <translation>既不是文件也不是块设备</translation>
    </message>
    <message>
        <source>no plain file name</source>
        <translation>不是普通文件名</translation>
    </message>
    <message>
        <source>not recorded</source>
        <translation>未记录</translation>
    </message>
    <message>
        <source>opened</source>
        <translation>已打开</translation>
    </message>
    <message>
        <source>the chain is too long</source>
        <translation>链过长</translation>
    </message>
    <message>
        <source>this image</source>
        <translation>此映像</translation>
    </message>
    <message>
        <source>{format}, guessed</source>
        <translation>{format}（推测）</translation>
    </message>
    <message>
        <source>{state}, located by hand</source>
        <translation>{state}，手动定位</translation>
    </message>
    <message>
        <source>{state}, outside the image’s folder</source>
        <translation>{state}，在映像文件夹之外</translation>
    </message>
</context>
<context>
    <name>convert</name>
    <message>
        <source>, window of 4 KiB</source>
        <translation>，4 KiB 窗口</translation>
    </message>
    <message>
        <source>Another conversion of the queue makes {target}</source>
        <translation>队列中的另一个转换会生成 {target}</translation>
    </message>
    <message>
        <source>Becomes</source>
        <translation>转换为</translation>
    </message>
    <message>
        <source>Choose a name for the target</source>
        <translation>请为目标选择名称</translation>
    </message>
    <message>
        <source>Here, {name} of {image} was read at {path}.</source>
        <translation>此处 {image} 的 {name} 是从 {path} 读取的。</translation>
    </message>
    <message>
        <source>Image</source>
        <translation>映像</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>clusters of {size}</source>
        <translation>簇大小 {size}</translation>
    </message>
    <message>
        <source>extended L2 entries</source>
        <translation>扩展 L2 表项</translation>
    </message>
    <message>
        <source>file of {size}</source>
        <translation>文件 {size}</translation>
    </message>
    <message>
        <source>lazy refcounts</source>
        <translation>延迟引用计数</translation>
    </message>
    <message>
        <source>not compressed</source>
        <translation>未压缩</translation>
    </message>
    <message>
        <source>not verified</source>
        <translation>不校验</translation>
    </message>
    <message>
        <source>of a snapshot</source>
        <translation>来自快照</translation>
    </message>
    <message>
        <source>on a backing file</source>
        <translation>基于后备文件</translation>
    </message>
    <message>
        <source>on its backing file</source>
        <translation>基于自己的后备文件</translation>
    </message>
    <message>
        <source>raw disk</source>
        <translation>raw 磁盘</translation>
    </message>
    <message>
        <source>refcounts of {bits}</source>
        <translation>{bits}引用计数</translation>
    </message>
    <message>
        <source>salvaged</source>
        <translation>抢救</translation>
    </message>
    <message>
        <source>verified</source>
        <translation>校验</translation>
    </message>
    <message>
        <source>with its bitmaps</source>
        <translation>含位图</translation>
    </message>
    <message>
        <source>without holes</source>
        <translation>无空洞</translation>
    </message>
    <message>
        <source>{first} and {second} would both become {target}</source>
        <translation>{first} 和 {second} 都会成为 {target}</translation>
    </message>
    <message>
        <source>{images} with other settings</source>
        <translation>{images}使用其他设置</translation>
    </message>
    <message>
        <source>{size} disk</source>
        <translation>磁盘 {size}</translation>
    </message>
    <message>
        <source>≈ {size} on disk</source>
        <translation>≈ 占用磁盘 {size}</translation>
    </message>
</context>
<context>
    <name>counts</name>
    <message>
        <source>L1 table</source>
        <translation>个 L1 表</translation>
    </message>
    <message>
        <source>L1 tables</source>
        <translation>个 L1 表</translation>
    </message>
    <message>
        <source>L2 table</source>
        <translation>个 L2 表</translation>
    </message>
    <message>
        <source>L2 tables</source>
        <translation>个 L2 表</translation>
    </message>
    <message>
        <source>bit</source>
        <translation>位</translation>
    </message>
    <message>
        <source>bitmap</source>
        <translation>个位图</translation>
    </message>
    <message>
        <source>bitmaps</source>
        <translation>个位图</translation>
    </message>
    <message>
        <source>bits</source>
        <translation>位</translation>
    </message>
    <message>
        <source>byte</source>
        <translation>字节</translation>
    </message>
    <message>
        <source>bytes</source>
        <translation>字节</translation>
    </message>
    <message>
        <source>cluster</source>
        <translation>个簇</translation>
    </message>
    <message>
        <source>cluster shaped like an L2 table</source>
        <translation>个形似 L2 表的簇</translation>
    </message>
    <message>
        <source>cluster that reads</source>
        <translation>个簇读作</translation>
    </message>
    <message>
        <source>cluster with data</source>
        <translation>个含数据的簇</translation>
    </message>
    <message>
        <source>clusters</source>
        <translation>个簇</translation>
    </message>
    <message>
        <source>clusters shaped like L2 tables</source>
        <translation>个形似 L2 表的簇</translation>
    </message>
    <message>
        <source>clusters that read</source>
        <translation>个簇读作</translation>
    </message>
    <message>
        <source>clusters with data</source>
        <translation>个含数据的簇</translation>
    </message>
    <message>
        <source>conversion</source>
        <translation>个转换</translation>
    </message>
    <message>
        <source>conversion is</source>
        <translation>个转换</translation>
    </message>
    <message>
        <source>conversions</source>
        <translation>个转换</translation>
    </message>
    <message>
        <source>conversions are</source>
        <translation>个转换</translation>
    </message>
    <message>
        <source>copies are</source>
        <translation>个副本</translation>
    </message>
    <message>
        <source>copy is</source>
        <translation>个副本</translation>
    </message>
    <message>
        <source>core</source>
        <translation>个核心</translation>
    </message>
    <message>
        <source>cores</source>
        <translation>个核心</translation>
    </message>
    <message>
        <source>corruption</source>
        <translation>处损坏</translation>
    </message>
    <message>
        <source>corruptions</source>
        <translation>处损坏</translation>
    </message>
    <message>
        <source>entries</source>
        <translation>个条目</translation>
    </message>
    <message>
        <source>entry</source>
        <translation>个条目</translation>
    </message>
    <message>
        <source>error</source>
        <translation>处错误</translation>
    </message>
    <message>
        <source>errors</source>
        <translation>处错误</translation>
    </message>
    <message>
        <source>fatal finding</source>
        <translation>个致命问题</translation>
    </message>
    <message>
        <source>fatal findings</source>
        <translation>个致命问题</translation>
    </message>
    <message>
        <source>file</source>
        <translation>个文件</translation>
    </message>
    <message>
        <source>files</source>
        <translation>个文件</translation>
    </message>
    <message>
        <source>finding</source>
        <translation>个发现项</translation>
    </message>
    <message>
        <source>findings</source>
        <translation>个发现项</translation>
    </message>
    <message>
        <source>image</source>
        <translation>个映像</translation>
    </message>
    <message>
        <source>images</source>
        <translation>个映像</translation>
    </message>
    <message>
        <source>iteration</source>
        <translation>次迭代</translation>
    </message>
    <message>
        <source>iterations</source>
        <translation>次迭代</translation>
    </message>
    <message>
        <source>leak</source>
        <translation>处泄漏</translation>
    </message>
    <message>
        <source>leaks</source>
        <translation>处泄漏</translation>
    </message>
    <message>
        <source>more of this kind</source>
        <translation>个同类</translation>
    </message>
    <message>
        <source>more range</source>
        <translation>个其他范围</translation>
    </message>
    <message>
        <source>more ranges</source>
        <translation>个其他范围</translation>
    </message>
    <message>
        <source>more reason</source>
        <translation>个其他原因</translation>
    </message>
    <message>
        <source>more reasons</source>
        <translation>个其他原因</translation>
    </message>
    <message>
        <source>note</source>
        <translation>条备注</translation>
    </message>
    <message>
        <source>note about this place</source>
        <translation>条关于此处的备注</translation>
    </message>
    <message>
        <source>notes</source>
        <translation>条备注</translation>
    </message>
    <message>
        <source>notes about this place</source>
        <translation>条关于此处的备注</translation>
    </message>
    <message>
        <source>row</source>
        <translation>行</translation>
    </message>
    <message>
        <source>rows</source>
        <translation>行</translation>
    </message>
    <message>
        <source>run</source>
        <translation>轮</translation>
    </message>
    <message>
        <source>runs</source>
        <translation>轮</translation>
    </message>
    <message>
        <source>sector</source>
        <translation>个扇区</translation>
    </message>
    <message>
        <source>sectors</source>
        <translation>个扇区</translation>
    </message>
    <message>
        <source>snapshot</source>
        <translation>个快照</translation>
    </message>
    <message>
        <source>snapshots</source>
        <translation>个快照</translation>
    </message>
    <message>
        <source>stored cluster</source>
        <translation>个已存储的簇</translation>
    </message>
    <message>
        <source>stored clusters</source>
        <translation>个已存储的簇</translation>
    </message>
    <message>
        <source>suspicious</source>
        <translation>可疑</translation>
    </message>
    <message>
        <source>thread</source>
        <translation>个线程</translation>
    </message>
    <message>
        <source>threads</source>
        <translation>个线程</translation>
    </message>
    <message>
        <source>time</source>
        <translation>次</translation>
    </message>
    <message>
        <source>times</source>
        <translation>次</translation>
    </message>
    <message>
        <source>unusual thing</source>
        <translation>处异常</translation>
    </message>
    <message>
        <source>unusual things</source>
        <translation>处异常</translation>
    </message>
</context>
<context>
    <name>drops</name>
    <message>
        <source>Drop to convert</source>
        <translation>拖放到此处以转换</translation>
    </message>
    <message>
        <source>Drop to inspect</source>
        <translation>拖放到此处以查看</translation>
    </message>
    <message>
        <source>Files and folders; nothing starts before you say so.</source>
        <translation>文件和文件夹；未经您确认不会开始。</translation>
    </message>
    <message>
        <source>Opens each file in a tab.</source>
        <translation>每个文件在一个标签页中打开。</translation>
    </message>
    <message>
        <source>What was dropped has no address: save it as a file first.</source>
        <translation>拖放的内容没有地址：请先将其保存为文件。</translation>
    </message>
    <message>
        <source>{name} is a folder: drop the image files in it, or drop it on “Convert”.</source>
        <translation>{name} 是文件夹：请拖放其中的映像文件，或将它拖放到“转换”上。</translation>
    </message>
    <message>
        <source>{url} is not on this computer: save it first, then open the file.</source>
        <translation>{url} 不在此计算机上：请先保存，再打开文件。</translation>
    </message>
</context>
<context>
    <name>entries</name>
    <message>
        <source>Cluster</source>
        <translation>簇</translation>
    </message>
    <message>
        <source>Cluster is used as</source>
        <translation>簇的用途</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>详细信息</translation>
    </message>
    <message>
        <source>Difference</source>
        <translation>差值</translation>
    </message>
    <message>
        <source>Entry</source>
        <translation>条目</translation>
    </message>
    <message>
        <source>File offset</source>
        <translation>文件偏移量</translation>
    </message>
    <message>
        <source>Guest offset</source>
        <translation>客户机偏移量</translation>
    </message>
    <message>
        <source>Host offset</source>
        <translation>宿主偏移量</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>类型</translation>
    </message>
    <message>
        <source>L2 table</source>
        <translation>L2 表</translation>
    </message>
    <message>
        <source>Raw hex</source>
        <translation>原始值（十六进制）</translation>
    </message>
    <message>
        <source>Refcount</source>
        <translation>引用计数</translation>
    </message>
    <message>
        <source>References</source>
        <translation>引用</translation>
    </message>
    <message>
        <source>all bits 0</source>
        <translation>所有位为 0</translation>
    </message>
    <message>
        <source>all bits 1</source>
        <translation>所有位为 1</translation>
    </message>
    <message>
        <source>at most {bytes} in {sectors}</source>
        <translation>最多 {bytes}，占 {sectors}</translation>
    </message>
    <message>
        <source>bit 0 set</source>
        <translation>位 0 已置位</translation>
    </message>
    <message>
        <source>bits</source>
        <translation>位</translation>
    </message>
    <message>
        <source>clusters {first:,} to {last:,}</source>
        <translation>簇 {first:,} 至 {last:,}</translation>
    </message>
    <message>
        <source>compressed</source>
        <translation>压缩</translation>
    </message>
    <message>
        <source>counted more often</source>
        <translation>计数多于一次</translation>
    </message>
    <message>
        <source>counted once</source>
        <translation>计数一次</translation>
    </message>
    <message>
        <source>data</source>
        <translation>数据</translation>
    </message>
    <message>
        <source>free</source>
        <translation>空闲</translation>
    </message>
    <message>
        <source>guest {offset}</source>
        <translation>客户机 {offset}</translation>
    </message>
    <message>
        <source>guest {offset} of snapshot {index}</source>
        <translation>快照 {index} 的客户机 {offset}</translation>
    </message>
    <message>
        <source>has a subcluster bitmap</source>
        <translation>带有子簇位图</translation>
    </message>
    <message>
        <source>invalid</source>
        <translation>无效</translation>
    </message>
    <message>
        <source>refcount block</source>
        <translation>引用计数块</translation>
    </message>
    <message>
        <source>reserved bits {bits:#x}</source>
        <translation>保留位 {bits:#x}</translation>
    </message>
    <message>
        <source>subclusters differ</source>
        <translation>子簇不一致</translation>
    </message>
    <message>
        <source>unallocated</source>
        <translation>未分配</translation>
    </message>
    <message>
        <source>unusable</source>
        <translation>不可用</translation>
    </message>
    <message>
        <source>zero</source>
        <translation>零</translation>
    </message>
    <message>
        <source>zero, allocated</source>
        <translation>零，已分配</translation>
    </message>
    <message>
        <source>{count} data</source>
        <translation>{count} 数据</translation>
    </message>
    <message>
        <source>{count} invalid</source>
        <translation>{count} 无效</translation>
    </message>
    <message>
        <source>{count} unallocated</source>
        <translation>{count} 未分配</translation>
    </message>
    <message>
        <source>{count} zero</source>
        <translation>{count} 零</translation>
    </message>
</context>
<context>
    <name>findings</name>
    <message>
        <source>A repaired copy gives the space back; no other byte changes.</source>
        <translation>修复后的副本会收回空间；其他字节都不变。</translation>
    </message>
    <message>
        <source>A repaired copy has consistent metadata; the guest reads the same data.</source>
        <translation>修复后的副本元数据一致；客户机读到的数据不变。</translation>
    </message>
    <message>
        <source>Nothing that a program could decide: read it, and judge yourself.</source>
        <translation>程序无法判定：请阅读后自行判断。</translation>
    </message>
    <message>
        <source>Only salvage helps: a new image from what can still be read.</source>
        <translation>只有抢救有用：用仍可读取的部分生成新映像。</translation>
    </message>
    <message>
        <source>Repair</source>
        <translation>修复</translation>
    </message>
    <message>
        <source>Repair (leaks)</source>
        <translation>修复（泄漏）</translation>
    </message>
    <message>
        <source>Salvage</source>
        <translation>抢救</translation>
    </message>
    <message>
        <source>entry {number}</source>
        <translation>条目 {number}</translation>
    </message>
</context>
<context>
    <name>forecast</name>
    <message>
        <source>All {stored} tried</source>
        <translation>测试了全部 {stored}</translation>
    </message>
    <message>
        <source>Ratio</source>
        <translation>比率</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>大小</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>between</source>
        <translation>范围</translation>
    </message>
    <message>
        <source>not compressed, {size}</source>
        <translation>未压缩，{size}</translation>
    </message>
    <message>
        <source>ranges with {confidence} confidence</source>
        <translation>置信度 {confidence} 的范围</translation>
    </message>
    <message>
        <source>with verifying</source>
        <translation>含校验</translation>
    </message>
    <message>
        <source>without verifying</source>
        <translation>不含校验</translation>
    </message>
    <message>
        <source>without writing: the folder could not be tried</source>
        <translation>不含写入：无法测试该文件夹</translation>
    </message>
    <message>
        <source>{before} now, about {after} then</source>
        <translation>现在 {before}，之后约 {after}</translation>
    </message>
    <message>
        <source>{sampled} of {stored} tried</source>
        <translation>测试了 {stored} 中的 {sampled}</translation>
    </message>
    <message>
        <source>{sizes}: as large as it is</source>
        <translation>{sizes}：大小不变</translation>
    </message>
    <message>
        <source>{sizes}: {change} larger</source>
        <translation>{sizes}：增大 {change}</translation>
    </message>
    <message>
        <source>{sizes}: {change} smaller</source>
        <translation>{sizes}：减小 {change}</translation>
    </message>
</context>
<context>
    <name>formatters</name>
    <message>
        <source>Field</source>
        <translation>字段</translation>
    </message>
    <message>
        <source>Meaning</source>
        <translation>含义</translation>
    </message>
    <message>
        <source>No findings so far</source>
        <translation>目前没有发现项</translation>
    </message>
    <message>
        <source>No findings when opening</source>
        <translation>打开时没有发现项</translation>
    </message>
    <message>
        <source>Offset</source>
        <translation>偏移量</translation>
    </message>
    <message>
        <source>Raw hex</source>
        <translation>原始值（十六进制）</translation>
    </message>
    <message>
        <source>Value</source>
        <translation>值</translation>
    </message>
</context>
<context>
    <name>go_to</name>
    <message>
        <source>An L2 table of this image has {entries}.</source>
        <translation>此映像的 L2 表有 {entries}。</translation>
    </message>
    <message>
        <source>Examples: 0x30000, 192k, guest:5G, cluster 17, L1[3], L1[3]/L2[17], refcount 17.</source>
        <translation>示例：0x30000、192k、guest:5G、cluster 17、L1[3]、L1[3]/L2[17]、refcount 17。</translation>
    </message>
    <message>
        <source>Only guest offsets and L1 entries belong to one snapshot.</source>
        <translation>只有客户机偏移量和 L1 表项属于某个快照。</translation>
    </message>
    <message>
        <source>The file ends at {end}, before {offset}.</source>
        <translation>文件在 {end} 处结束，在 {offset} 之前。</translation>
    </message>
    <message>
        <source>The guest’s disk ends at {end}, before {offset}.</source>
        <translation>客户机磁盘在 {end} 处结束，在 {offset} 之前。</translation>
    </message>
    <message>
        <source>The header allows no tables: only host offsets lead on.</source>
        <translation>文件头不允许有表：只能使用宿主偏移量。</translation>
    </message>
    <message>
        <source>The image has no snapshot {index}.</source>
        <translation>映像没有快照 {index}。</translation>
    </message>
    <message>
        <source>The table has {entries}; there is no {row}.</source>
        <translation>该表有 {entries}；没有第 {row} 个。</translation>
    </message>
    <message>
        <source>Type where to go, for example 0x30000 or L1[3]/L2[17].</source>
        <translation>输入目标位置，例如 0x30000 或 L1[3]/L2[17]。</translation>
    </message>
    <message>
        <source>{number} does not fit into 64 bits.</source>
        <translation>{number} 超出 64 位。</translation>
    </message>
    <message>
        <source>“{text}” is no place in an image.</source>
        <translation>“{text}”不是映像中的位置。</translation>
    </message>
</context>
<context>
    <name>health</name>
    <message>
        <source>The check failed: {reason}.</source>
        <translation>检查失败：{reason}。</translation>
    </message>
    <message>
        <source>The file {reason}.</source>
        <translation>该文件{reason}。</translation>
    </message>
    <message>
        <source>check failed</source>
        <translation>检查失败</translation>
    </message>
    <message>
        <source>check incomplete</source>
        <translation>检查不完整</translation>
    </message>
    <message>
        <source>checking…</source>
        <translation>正在检查…</translation>
    </message>
    <message>
        <source>in use by another program</source>
        <translation>正被其他程序使用</translation>
    </message>
    <message>
        <source>in use, may be inconsistent</source>
        <translation>正在使用，可能不一致</translation>
    </message>
    <message>
        <source>locked by another program</source>
        <translation>被其他程序锁定</translation>
    </message>
    <message>
        <source>metadata consistent</source>
        <translation>元数据一致</translation>
    </message>
    <message>
        <source>not checked</source>
        <translation>未检查</translation>
    </message>
</context>
<context>
    <name>heatmap</name>
    <message>
        <source> of snapshot {index}</source>
        <translation>（快照 {index}）</translation>
    </message>
    <message>
        <source>0, but used</source>
        <translation>0，但正在使用</translation>
    </message>
    <message>
        <source>1 reference</source>
        <translation>1 个引用</translation>
    </message>
    <message>
        <source>1 too high</source>
        <translation>高 1</translation>
    </message>
    <message>
        <source>2 or more too high</source>
        <translation>高 2 或更多</translation>
    </message>
    <message>
        <source>A byte of the sample says {bits}; random data says 8.</source>
        <translation>样本的每个字节含 {bits}；随机数据为 8。</translation>
    </message>
    <message>
        <source>Compressed bytes take {share} of a cluster.</source>
        <translation>压缩字节占一个簇的 {share}。</translation>
    </message>
    <message>
        <source>Compressed size</source>
        <translation>压缩后大小</translation>
    </message>
    <message>
        <source>Content against role (reads)</source>
        <translation>内容与用途（需读取）</translation>
    </message>
    <message>
        <source>Counts as free while in use: the next write may overwrite it.</source>
        <translation>正在使用却计为空闲：下次写入可能将其覆盖。</translation>
    </message>
    <message>
        <source>Decided by {layer} of the backing chain.</source>
        <translation>由后备链的 {layer} 决定。</translation>
    </message>
    <message>
        <source>Deleting snapshots would not touch it.</source>
        <translation>删除快照不会影响它。</translation>
    </message>
    <message>
        <source>Deleting the snapshots that use it would set it free.</source>
        <translation>删除使用它的快照后，它就会被释放。</translation>
    </message>
    <message>
        <source>Entropy (reads)</source>
        <translation>熵（需读取）</translation>
    </message>
    <message>
        <source>Fragmentation</source>
        <translation>碎片化</translation>
    </message>
    <message>
        <source>Free, or behind the end of the file.</source>
        <translation>空闲，或在文件末尾之后。</translation>
    </message>
    <message>
        <source>Guest data that looks like a table of an image.</source>
        <translation>看起来像映像表的客户机数据。</translation>
    </message>
    <message>
        <source>Holds nothing of any disk: metadata, or free.</source>
        <translation>不含任何磁盘内容：元数据或空闲。</translation>
    </message>
    <message>
        <source>Holds nothing of the active disk.</source>
        <translation>不含活动磁盘的内容。</translation>
    </message>
    <message>
        <source>Its content may be what it is said to be.</source>
        <translation>其内容可能与声明相符。</translation>
    </message>
    <message>
        <source>Its refcount block can’t be read.</source>
        <translation>无法读取其引用计数块。</translation>
    </message>
    <message>
        <source>Layer of the chain</source>
        <translation>链中的层</translation>
    </message>
    <message>
        <source>Lies where the guest cluster before it ends: read in one go.</source>
        <translation>紧接前一个客户机簇：可一次读取。</translation>
    </message>
    <message>
        <source>More references than counted: it may be set free too early.</source>
        <translation>引用多于计数：可能过早被释放。</translation>
    </message>
    <message>
        <source>No compressed guest cluster is stored here.</source>
        <translation>此处没有存储压缩的客户机簇。</translation>
    </message>
    <message>
        <source>No layer holds it: it reads as zeros.</source>
        <translation>没有任何层包含它：读作零。</translation>
    </message>
    <message>
        <source>Nothing refers to it, but it looks like an L2 table.</source>
        <translation>没有任何引用，但看起来像 L2 表。</translation>
    </message>
    <message>
        <source>Nothing refers to it, but it still holds bytes.</source>
        <translation>没有任何引用，但仍含有字节。</translation>
    </message>
    <message>
        <source>Nothing uses it, and it counts as free.</source>
        <translation>没有使用，计为空闲。</translation>
    </message>
    <message>
        <source>One reference less than counted: wasted space.</source>
        <translation>引用比计数少一个：浪费空间。</translation>
    </message>
    <message>
        <source>Refcount, computed</source>
        <translation>引用计数（计算值）</translation>
    </message>
    <message>
        <source>Refcount, difference</source>
        <translation>引用计数（差值）</translation>
    </message>
    <message>
        <source>Refcount, stored</source>
        <translation>引用计数（存储值）</translation>
    </message>
    <message>
        <source>Said to be a table, but its content is something else.</source>
        <translation>声明为表，但内容并非如此。</translation>
    </message>
    <message>
        <source>Several references less than counted: wasted space.</source>
        <translation>引用比计数少若干个：浪费空间。</translation>
    </message>
    <message>
        <source>Snapshot sharing</source>
        <translation>快照共享</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>The active disk and a snapshot have it in common.</source>
        <translation>活动磁盘与快照共享它。</translation>
    </message>
    <message>
        <source>The bytes that were sampled are all zero.</source>
        <translation>抽样的字节全为零。</translation>
    </message>
    <message>
        <source>The image counts {text} for it.</source>
        <translation>映像为它计 {text}。</translation>
    </message>
    <message>
        <source>The sample holds other bytes than zero.</source>
        <translation>样本含有非零字节。</translation>
    </message>
    <message>
        <source>The stored refcount is the number of references.</source>
        <translation>存储的引用计数等于引用数。</translation>
    </message>
    <message>
        <source>Zero content (reads)</source>
        <translation>零内容（需读取）</translation>
    </message>
    <message>
        <source>active disk only</source>
        <translation>仅活动磁盘</translation>
    </message>
    <message>
        <source>block {index}</source>
        <translation>块 {index}</translation>
    </message>
    <message>
        <source>cluster {index}</source>
        <translation>簇 {index}</translation>
    </message>
    <message>
        <source>data like a table</source>
        <translation>形似表的数据</translation>
    </message>
    <message>
        <source>entries from {row}</source>
        <translation>条目自 {row} 起</translation>
    </message>
    <message>
        <source>equal: free</source>
        <translation>相等：空闲</translation>
    </message>
    <message>
        <source>equal: used</source>
        <translation>相等：已用</translation>
    </message>
    <message>
        <source>follows</source>
        <translation>连续</translation>
    </message>
    <message>
        <source>guest cluster {index}</source>
        <translation>客户机簇 {index}</translation>
    </message>
    <message>
        <source>guest {offset}</source>
        <translation>客户机 {offset}</translation>
    </message>
    <message>
        <source>guest {size}</source>
        <translation>客户机 {size}</translation>
    </message>
    <message>
        <source>host {offset}</source>
        <translation>宿主 {offset}</translation>
    </message>
    <message>
        <source>layer {depth}</source>
        <translation>第 {depth} 层</translation>
    </message>
    <message>
        <source>maybe a lost table</source>
        <translation>可能是丢失的表</translation>
    </message>
    <message>
        <source>no guest data</source>
        <translation>无客户机数据</translation>
    </message>
    <message>
        <source>not compressed</source>
        <translation>未压缩</translation>
    </message>
    <message>
        <source>not read</source>
        <translation>未读取</translation>
    </message>
    <message>
        <source>not what it should be</source>
        <translation>与声明不符</translation>
    </message>
    <message>
        <source>nothing unusual</source>
        <translation>无异常</translation>
    </message>
    <message>
        <source>nowhere</source>
        <translation>无处</translation>
    </message>
    <message>
        <source>other bytes</source>
        <translation>其他字节</translation>
    </message>
    <message>
        <source>refcount {count}</source>
        <translation>引用计数 {count}</translation>
    </message>
    <message>
        <source>refcount {stored}, but {computed} references</source>
        <translation>引用计数 {stored}，但有 {computed} 个引用</translation>
    </message>
    <message>
        <source>remains</source>
        <translation>残留</translation>
    </message>
    <message>
        <source>shared</source>
        <translation>共享</translation>
    </message>
    <message>
        <source>snapshots only</source>
        <translation>仅快照</translation>
    </message>
    <message>
        <source>table of L1[{index}]</source>
        <translation>L1[{index}] 的表</translation>
    </message>
    <message>
        <source>this image</source>
        <translation>此映像</translation>
    </message>
    <message>
        <source>too low</source>
        <translation>过低</translation>
    </message>
    <message>
        <source>unreadable</source>
        <translation>无法读取</translation>
    </message>
    <message>
        <source>worst of {count} in this cell</source>
        <translation>此格 {count} 个中最差的</translation>
    </message>
    <message>
        <source>zeros</source>
        <translation>零</translation>
    </message>
    <message>
        <source>{count} references</source>
        <translation>{count} 个引用</translation>
    </message>
    <message>
        <source>{distance} away from the end of the guest cluster before it.</source>
        <translation>距前一个客户机簇的末尾 {distance}。</translation>
    </message>
    <message>
        <source>{text} were found that lead to it.</source>
        <translation>找到 {text} 指向它。</translation>
    </message>
</context>
<context>
    <name>hints</name>
    <message>
        <source>Convert…</source>
        <translation>转换…</translation>
    </message>
    <message>
        <source>Deep check</source>
        <translation>深度检查</translation>
    </message>
    <message>
        <source>Repair as a copy…</source>
        <translation>修复为副本…</translation>
    </message>
    <message>
        <source>Salvage…</source>
        <translation>抢救…</translation>
    </message>
    <message>
        <source>“Convert…”</source>
        <translation>“转换…”</translation>
    </message>
    <message>
        <source>“Repair as a copy…”</source>
        <translation>“修复为副本…”</translation>
    </message>
    <message>
        <source>“Salvage…”</source>
        <translation>“抢救…”</translation>
    </message>
</context>
<context>
    <name>inspector</name>
    <message>
        <source>About</source>
        <translation>关于</translation>
    </message>
    <message>
        <source>But no cluster starts there: the entry is damaged.</source>
        <translation>但那里不是簇的起点：该条目已损坏。</translation>
    </message>
    <message>
        <source>But the file ends before its end.</source>
        <translation>但文件在其末尾之前就结束了。</translation>
    </message>
    <message>
        <source>But the file ends before that.</source>
        <translation>但文件在那之前就结束了。</translation>
    </message>
    <message>
        <source>Bytes of the file</source>
        <translation>文件的字节</translation>
    </message>
    <message>
        <source>COPIED is not set, as in every snapshot.</source>
        <translation>COPIED 未置位，快照中都是如此。</translation>
    </message>
    <message>
        <source>COPIED is not set: it may be shared, so a write makes a copy first.</source>
        <translation>COPIED 未置位：可能被共享，因此写入前会先复制。</translation>
    </message>
    <message>
        <source>COPIED says that nothing shares it, so a write changes it in place.</source>
        <translation>COPIED 表示无人共享，因此写入会就地修改。</translation>
    </message>
    <message>
        <source>Cluster is</source>
        <translation>簇为</translation>
    </message>
    <message>
        <source>Cluster {index}</source>
        <translation>簇 {index}</translation>
    </message>
    <message>
        <source>Cluster {index} is used by</source>
        <translation>簇 {index} 的使用者</translation>
    </message>
    <message>
        <source>Compressed payload at {place}</source>
        <translation>压缩数据位于 {place}</translation>
    </message>
    <message>
        <source>Counts</source>
        <translation>计数</translation>
    </message>
    <message>
        <source>Each entry names a block with the refcounts of {clusters}.</source>
        <translation>每个表项指向一个块，其中有 {clusters} 的引用计数。</translation>
    </message>
    <message>
        <source>Each entry names the L2 table of {size} of the guest’s disk.</source>
        <translation>每个表项指向客户机磁盘 {size} 的 L2 表。</translation>
    </message>
    <message>
        <source>Each entry names {size} of the bitmap’s bits.</source>
        <translation>每个表项指向位图的 {size} 数据。</translation>
    </message>
    <message>
        <source>Each entry says where {size} of the guest are stored.</source>
        <translation>每个表项说明客户机 {size} 的存储位置。</translation>
    </message>
    <message>
        <source>Entries</source>
        <translation>条目</translation>
    </message>
    <message>
        <source>Every bit is set, and no cluster needed.</source>
        <translation>所有位都已置位，不需要簇。</translation>
    </message>
    <message>
        <source>Expected: {value}</source>
        <translation>预期：{value}</translation>
    </message>
    <message>
        <source>Findings here</source>
        <translation>此处的发现项</translation>
    </message>
    <message>
        <source>Guest cluster {index}</source>
        <translation>客户机簇 {index}</translation>
    </message>
    <message>
        <source>Holds one guest cluster, compressed; it may end sooner.</source>
        <translation>含一个压缩的客户机簇；可能提前结束。</translation>
    </message>
    <message>
        <source>How the guest’s data is encrypted.</source>
        <translation>客户机数据的加密方式。</translation>
    </message>
    <message>
        <source>In the file</source>
        <translation>在文件中</translation>
    </message>
    <message>
        <source>In the guest</source>
        <translation>在客户机中</translation>
    </message>
    <message>
        <source>Internal snapshots: each has an L1 table of its own and shares data.</source>
        <translation>内部快照：各有自己的 L1 表并共享数据。</translation>
    </message>
    <message>
        <source>It contradicts the format.</source>
        <translation>与格式矛盾。</translation>
    </message>
    <message>
        <source>It counts cluster {cluster} as free.</source>
        <translation>它将簇 {cluster} 计为空闲。</translation>
    </message>
    <message>
        <source>It counts cluster {cluster} as used {times}.</source>
        <translation>它将簇 {cluster} 计为已用 {times}。</translation>
    </message>
    <message>
        <source>It counts how often each of the clusters {first} to {last} is used.</source>
        <translation>它记录簇 {first} 至 {last} 各被使用的次数。</translation>
    </message>
    <message>
        <source>It is being read…</source>
        <translation>正在读取…</translation>
    </message>
    <message>
        <source>It leads to the L2 table at {offset}, which says where {size} are stored.</source>
        <translation>它指向位于 {offset} 的 L2 表，该表说明 {size} 的存储位置。</translation>
    </message>
    <message>
        <source>It leads to the refcount block at {offset}, which counts how often {clusters} are used.</source>
        <translation>它指向位于 {offset} 的引用计数块，该块记录 {clusters} 的使用次数。</translation>
    </message>
    <message>
        <source>It lies behind the end of the disk.</source>
        <translation>位于磁盘末尾之后。</translation>
    </message>
    <message>
        <source>It maps nothing: the disk ends before.</source>
        <translation>没有映射任何内容：磁盘在此之前结束。</translation>
    </message>
    <message>
        <source>It maps {size} at guest {offset}.</source>
        <translation>映射客户机 {offset} 处的 {size}。</translation>
    </message>
    <message>
        <source>It names no L2 table: {reading}</source>
        <translation>没有指向 L2 表：{reading}</translation>
    </message>
    <message>
        <source>It names no refcount block: all its clusters count as free.</source>
        <translation>没有指向引用计数块：其所有簇都计为空闲。</translation>
    </message>
    <message>
        <source>It touches {clusters}.</source>
        <translation>涉及 {clusters}。</translation>
    </message>
    <message>
        <source>Leads to</source>
        <translation>指向</translation>
    </message>
    <message>
        <source>Looking through the tables…</source>
        <translation>正在查找各表…</translation>
    </message>
    <message>
        <source>More in QEMU’s description of the format, “{section}”.</source>
        <translation>更多内容见 QEMU 的格式说明“{section}”。</translation>
    </message>
    <message>
        <source>Named by</source>
        <translation>引用自</translation>
    </message>
    <message>
        <source>No bit is set, and no cluster needed.</source>
        <translation>没有置位，不需要簇。</translation>
    </message>
    <message>
        <source>No cluster starts where this table is said to be: what names it is damaged.</source>
        <translation>此表声明的位置不是簇的起点：指向它的内容已损坏。</translation>
    </message>
    <message>
        <source>Nothing names such a table, or that is being read.</source>
        <translation>没有任何内容指向这样的表，或仍在读取。</translation>
    </message>
    <message>
        <source>Nothing noticed so far; not checked.</source>
        <translation>目前没有异常；未检查。</translation>
    </message>
    <message>
        <source>Nothing noticed so far; the check is running.</source>
        <translation>目前没有异常；检查正在进行。</translation>
    </message>
    <message>
        <source>Parts that follow the header: names, and where optional structures lie.</source>
        <translation>文件头之后的部分：名称，以及可选结构的位置。</translation>
    </message>
    <message>
        <source>Payload</source>
        <translation>压缩数据</translation>
    </message>
    <message>
        <source>Persistent bitmaps: which parts of the disk changed since a backup.</source>
        <translation>持久位图：自备份以来磁盘哪些部分有变化。</translation>
    </message>
    <message>
        <source>Refcount</source>
        <translation>引用计数</translation>
    </message>
    <message>
        <source>Rows</source>
        <translation>行</translation>
    </message>
    <message>
        <source>Says</source>
        <translation>声明</translation>
    </message>
    <message>
        <source>Something is wrong here.</source>
        <translation>此处有问题。</translation>
    </message>
    <message>
        <source>Stored at</source>
        <translation>存储于</translation>
    </message>
    <message>
        <source>Subclusters</source>
        <translation>子簇</translation>
    </message>
    <message>
        <source>That lies behind the end of the disk.</source>
        <translation>位于磁盘末尾之后。</translation>
    </message>
    <message>
        <source>The bits lie in the cluster at {at}.</source>
        <translation>位图数据在位于 {at} 的簇中。</translation>
    </message>
    <message>
        <source>The check found nothing wrong here, but could not look at everything.</source>
        <translation>检查在此没有发现问题，但未能查看全部内容。</translation>
    </message>
    <message>
        <source>The check found nothing wrong here.</source>
        <translation>检查在此没有发现问题。</translation>
    </message>
    <message>
        <source>The file ends before it.</source>
        <translation>文件在此之前结束。</translation>
    </message>
    <message>
        <source>The file ends before that cluster.</source>
        <translation>文件在该簇之前结束。</translation>
    </message>
    <message>
        <source>The file ends before this entry.</source>
        <translation>文件在该条目之前结束。</translation>
    </message>
    <message>
        <source>The file ends inside it.</source>
        <translation>文件在其中结束。</translation>
    </message>
    <message>
        <source>The file that holds the guest’s data; this one only maps it.</source>
        <translation>存放客户机数据的文件；本文件只保存映射。</translation>
    </message>
    <message>
        <source>The file that is read where this image has nothing of its own.</source>
        <translation>此映像没有自己的数据时读取的文件。</translation>
    </message>
    <message>
        <source>The first bytes of the file: sizes, features, and where everything else lies.</source>
        <translation>文件的开头：大小、特性，以及其他内容的位置。</translation>
    </message>
    <message>
        <source>The way there</source>
        <translation>到达路径</translation>
    </message>
    <message>
        <source>There is no such entry, or its table is not known yet.</source>
        <translation>没有这样的条目，或其所在的表尚不清楚。</translation>
    </message>
    <message>
        <source>This can’t be right: see below.</source>
        <translation>这不可能正确：见下文。</translation>
    </message>
    <message>
        <source>Used by</source>
        <translation>使用者</translation>
    </message>
    <message>
        <source>What a program must know, may ignore, or must clear before it writes.</source>
        <translation>程序必须了解、可以忽略或在写入前必须清除的内容。</translation>
    </message>
    <message>
        <source>What it is used for tells a check.</source>
        <translation>检查可说明其用途。</translation>
    </message>
    <message>
        <source>Without a usable header nobody can tell what they are.</source>
        <translation>没有可用的文件头，就无法说明它们是什么。</translation>
    </message>
    <message>
        <source>and {count} more, listed in the findings</source>
        <translation>以及另外 {count} 项，见发现项列表</translation>
    </message>
    <message>
        <source>bitmap table [{index}]</source>
        <translation>位图表 [{index}]</translation>
    </message>
    <message>
        <source>bitmap “{name}”</source>
        <translation>位图“{name}”</translation>
    </message>
    <message>
        <source>cluster {index} at {offset}</source>
        <translation>位于 {offset} 的簇 {index}</translation>
    </message>
    <message>
        <source>compressed payload at {offset}</source>
        <translation>位于 {offset} 的压缩数据</translation>
    </message>
    <message>
        <source>guest {offset}</source>
        <translation>客户机 {offset}</translation>
    </message>
    <message>
        <source>header field {name}</source>
        <translation>文件头字段 {name}</translation>
    </message>
    <message>
        <source>its L1 table</source>
        <translation>其 L1 表</translation>
    </message>
    <message>
        <source>its first entry</source>
        <translation>其第一个条目</translation>
    </message>
    <message>
        <source>its first entry or field</source>
        <translation>其第一个条目或字段</translation>
    </message>
    <message>
        <source>its refcount, block {part} [{row}]</source>
        <translation>其引用计数，块 {part} [{row}]</translation>
    </message>
    <message>
        <source>its table</source>
        <translation>其表</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>无</translation>
    </message>
    <message>
        <source>nothing: behind the end of the disk</source>
        <translation>无：在磁盘末尾之后</translation>
    </message>
    <message>
        <source>refcount table [{index}]</source>
        <translation>引用计数表 [{index}]</translation>
    </message>
    <message>
        <source>snapshot “{name}”</source>
        <translation>快照“{name}”</translation>
    </message>
    <message>
        <source>the L2 table</source>
        <translation>该 L2 表</translation>
    </message>
    <message>
        <source>the refcount block</source>
        <translation>该引用计数块</translation>
    </message>
    <message>
        <source>{bytes} at most, in {sectors}</source>
        <translation>最多 {bytes}，占 {sectors}</translation>
    </message>
    <message>
        <source>{bytes} from {position} on</source>
        <translation>自 {position} 起的 {bytes}</translation>
    </message>
    <message>
        <source>{count} contradictory</source>
        <translation>{count} 矛盾</translation>
    </message>
    <message>
        <source>{count} counted</source>
        <translation>计数 {count}</translation>
    </message>
    <message>
        <source>{count} not allocated</source>
        <translation>{count} 未分配</translation>
    </message>
    <message>
        <source>{count} notes about this place</source>
        <translation>{count} 条关于此处的备注</translation>
    </message>
    <message>
        <source>{count} of {bits}</source>
        <translation>{bits} 中的 {count}</translation>
    </message>
    <message>
        <source>{count} stored</source>
        <translation>{count} 已存储</translation>
    </message>
    <message>
        <source>{count} things are wrong here.</source>
        <translation>此处有 {count} 个问题。</translation>
    </message>
    <message>
        <source>{count} zero</source>
        <translation>{count} 零</translation>
    </message>
    <message>
        <source>{entry} of snapshot {index}</source>
        <translation>快照 {index} 的 {entry}</translation>
    </message>
    <message>
        <source>{kinds}
of {size} each</source>
        <translation>{kinds}
各 {size}</translation>
    </message>
    <message>
        <source>{place} of snapshot {index}</source>
        <translation>快照 {index} 的 {place}</translation>
    </message>
</context>
<context>
    <name>keys</name>
    <message>
        <source>+, −</source>
        <translation>+、−</translation>
    </message>
    <message>
        <source>0, 1</source>
        <translation>0、1</translation>
    </message>
    <message>
        <source>Arrow keys</source>
        <translation>方向键</translation>
    </message>
    <message>
        <source>Bytes: search, again, backwards</source>
        <translation>字节：搜索、继续、反向</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Delete</translation>
    </message>
    <message>
        <source>Go to what a finding is about</source>
        <translation>转到发现项所涉及的位置</translation>
    </message>
    <message>
        <source>Inspector: copy everything it says</source>
        <translation>检查器：复制全部内容</translation>
    </message>
    <message>
        <source>Inspector: previous or next entry</source>
        <translation>检查器：上一个或下一个条目</translation>
    </message>
    <message>
        <source>Keys</source>
        <translation>按键</translation>
    </message>
    <message>
        <source>Legend: only this state, or hide it</source>
        <translation>图例：仅此状态，或隐藏</translation>
    </message>
    <message>
        <source>Map: everything, or single cells</source>
        <translation>映射图：全部，或单个簇</translation>
    </message>
    <message>
        <source>Map: move by a cell</source>
        <translation>映射图：移动一格</translation>
    </message>
    <message>
        <source>Map: next or previous of the selected state</source>
        <translation>映射图：所选状态的下一个或上一个</translation>
    </message>
    <message>
        <source>Map: select a range</source>
        <translation>映射图：选择范围</translation>
    </message>
    <message>
        <source>Map: zoom in or out</source>
        <translation>映射图：放大或缩小</translation>
    </message>
    <message>
        <source>N, P</source>
        <translation>N、P</translation>
    </message>
    <message>
        <source>Remove a recent file from the list</source>
        <translation>从列表中移除最近的文件</translation>
    </message>
    <message>
        <source>Return</source>
        <translation>Enter</translation>
    </message>
    <message>
        <source>Shift+Arrow keys</source>
        <translation>Shift+方向键</translation>
    </message>
    <message>
        <source>Space, Delete</source>
        <translation>空格、Delete</translation>
    </message>
</context>
<context>
    <name>locator</name>
    <message>
        <source>It reads as zeros and takes no space.</source>
        <translation>读作零，不占空间。</translation>
    </message>
    <message>
        <source>It reads as zeros, whatever the host cluster holds.</source>
        <translation>无论宿主簇内容如何，都读作零。</translation>
    </message>
    <message>
        <source>No cluster starts there: the L1 entry is damaged.</source>
        <translation>那里不是簇的起点：L1 表项已损坏。</translation>
    </message>
    <message>
        <source>No cluster starts there: the L2 entry is damaged.</source>
        <translation>那里不是簇的起点：L2 表项已损坏。</translation>
    </message>
    <message>
        <source>Not in this image: it reads as zeros or from below.</source>
        <translation>不在此映像中：读作零，或读自下层。</translation>
    </message>
    <message>
        <source>Subcluster {index} is not allocated.</source>
        <translation>子簇 {index} 未分配。</translation>
    </message>
    <message>
        <source>Subcluster {index} is stored.</source>
        <translation>子簇 {index} 已存储。</translation>
    </message>
    <message>
        <source>Subcluster {index} reads as zeros.</source>
        <translation>子簇 {index} 读作零。</translation>
    </message>
    <message>
        <source>The L1 entry leads to the L2 table at {offset}.</source>
        <translation>L1 表项指向位于 {offset} 的 L2 表。</translation>
    </message>
    <message>
        <source>The L1 table has no entry for this byte.</source>
        <translation>L1 表没有对应此字节的表项。</translation>
    </message>
    <message>
        <source>The L1 table is being read.</source>
        <translation>正在读取 L1 表。</translation>
    </message>
    <message>
        <source>The L2 entry names a compressed payload at {offset}.</source>
        <translation>L2 表项指向位于 {offset} 的压缩数据。</translation>
    </message>
    <message>
        <source>The L2 entry names no host cluster.</source>
        <translation>L2 表项没有指向宿主簇。</translation>
    </message>
    <message>
        <source>The L2 entry names the host cluster at {offset}.</source>
        <translation>L2 表项指向位于 {offset} 的宿主簇。</translation>
    </message>
    <message>
        <source>The L2 table is being read.</source>
        <translation>正在读取 L2 表。</translation>
    </message>
    <message>
        <source>The byte lies in the external data file, at {offset}.</source>
        <translation>该字节在外部数据文件的 {offset} 处。</translation>
    </message>
    <message>
        <source>The disk ends before this byte.</source>
        <translation>磁盘在此字节之前结束。</translation>
    </message>
    <message>
        <source>The file ends before these bytes: they are gone.</source>
        <translation>文件在这些字节之前结束：它们已丢失。</translation>
    </message>
    <message>
        <source>The file ends before this entry of the L1 table.</source>
        <translation>文件在 L1 表的此表项之前结束。</translation>
    </message>
    <message>
        <source>The file ends before this entry of the L2 table.</source>
        <translation>文件在 L2 表的此表项之前结束。</translation>
    </message>
    <message>
        <source>The host cluster lies in the bytes {start} to {end}.</source>
        <translation>宿主簇位于字节 {start} 至 {end}。</translation>
    </message>
    <message>
        <source>The payload lies in the bytes {start} to {end}.</source>
        <translation>压缩数据位于字节 {start} 至 {end}。</translation>
    </message>
    <message>
        <source>The two bits of subcluster {index} contradict each other.</source>
        <translation>子簇 {index} 的两个位互相矛盾。</translation>
    </message>
    <message>
        <source>This L1 entry names no L2 table.</source>
        <translation>此 L1 表项没有指向 L2 表。</translation>
    </message>
    <message>
        <source>Where the byte is stored can’t be read.</source>
        <translation>无法读取该字节的存储位置。</translation>
    </message>
</context>
<context>
    <name>looked_at</name>
    <message>
        <source>All structures and refcounts were checked, and every compressed cluster decoded; no check can tell whether data is what the guest once wrote.</source>
        <translation>已检查所有结构和引用计数，并解码每个压缩簇；任何检查都无法判断数据是否就是客户机当初写入的内容。</translation>
    </message>
    <message>
        <source>All structures and refcounts were checked; the guest’s data was not looked at.</source>
        <translation>已检查所有结构和引用计数；没有查看客户机数据。</translation>
    </message>
    <message>
        <source>Reading the mapping tables failed: {reason}.</source>
        <translation>读取映射表失败：{reason}。</translation>
    </message>
    <message>
        <source>The header, its extensions and the tables it names directly were looked at; the mapping tables are being read, {unseen} are not.</source>
        <translation>已查看文件头、其扩展以及它直接指向的表；正在读取映射表，{unseen} 未查看。</translation>
    </message>
    <message>
        <source>The header, its extensions and the tables it names directly were looked at; {unseen} were not.</source>
        <translation>已查看文件头、其扩展以及它直接指向的表；{unseen} 未查看。</translation>
    </message>
    <message>
        <source>The header, its extensions, the tables it names directly and the active mapping tables were looked at; {unseen} were not.</source>
        <translation>已查看文件头、其扩展、它直接指向的表以及活动的映射表；{unseen} 未查看。</translation>
    </message>
</context>
<context>
    <name>manual</name>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>What it means</source>
        <translation>含义</translation>
    </message>
</context>
<context>
    <name>overlays</name>
    <message>
        <source>A bit is set: an incremental backup would copy it.</source>
        <translation>有置位：增量备份会复制它。</translation>
    </message>
    <message>
        <source>A further snapshot leads to the old data, too.</source>
        <translation>另一个快照也指向旧数据。</translation>
    </message>
    <message>
        <source>A guest reads the same bytes from both.</source>
        <translation>客户机从两者读到相同的字节。</translation>
    </message>
    <message>
        <source>A guest reads the same from both.</source>
        <translation>客户机从两者读到相同的内容。</translation>
    </message>
    <message>
        <source>A table is missing, or an entry contradicts the format.</source>
        <translation>缺少表，或有条目与格式矛盾。</translation>
    </message>
    <message>
        <source>Bitmap “{name}” marks {amount}.</source>
        <translation>位图“{name}”标记了 {amount}。</translation>
    </message>
    <message>
        <source>Both have data here, and not the same.</source>
        <translation>两者在此都有数据，但不相同。</translation>
    </message>
    <message>
        <source>It was not saved cleanly (in use): QEMU does not trust its bits.</source>
        <translation>未正常保存（使用中）：QEMU 不信任其中的位。</translation>
    </message>
    <message>
        <source>Neither the snapshot nor the active disk stores anything.</source>
        <translation>快照和活动磁盘都没有存储内容。</translation>
    </message>
    <message>
        <source>No bit is set: not written since the bitmap was cleared.</source>
        <translation>没有置位：自位图清空以来未写入。</translation>
    </message>
    <message>
        <source>No other disk leads to it: deleting the snapshot frees it.</source>
        <translation>没有其他磁盘指向它：删除快照即可释放。</translation>
    </message>
    <message>
        <source>One of the two is damaged here: nobody can say.</source>
        <translation>两者之一在此损坏：无法判断。</translation>
    </message>
    <message>
        <source>Snapshot “{name}”: {changed} of the guest’s disk have another mapping now; {alone} are held by this snapshot only.</source>
        <translation>快照“{name}”：客户机磁盘有 {changed} 的映射已改变；{alone} 仅由此快照占用。</translation>
    </message>
    <message>
        <source>The active disk has an entry; the snapshot stores nothing.</source>
        <translation>活动磁盘有表项；快照没有存储内容。</translation>
    </message>
    <message>
        <source>The active disk has the same mapping: unchanged since.</source>
        <translation>活动磁盘的映射相同：此后未改变。</translation>
    </message>
    <message>
        <source>The bitmap’s table or its cluster is damaged or cut off.</source>
        <translation>位图的表或簇已损坏或被截断。</translation>
    </message>
    <message>
        <source>The disks are {left} and {right} large.</source>
        <translation>两个磁盘的大小分别为 {left} 和 {right}。</translation>
    </message>
    <message>
        <source>The other one reads as zeros.</source>
        <translation>另一个读作零。</translation>
    </message>
    <message>
        <source>This image reads as zeros.</source>
        <translation>此映像读作零。</translation>
    </message>
    <message>
        <source>What can be read of both is the same.</source>
        <translation>两者可读取的部分相同。</translation>
    </message>
    <message>
        <source>bits can’t be read</source>
        <translation>位无法读取</translation>
    </message>
    <message>
        <source>can’t be read</source>
        <translation>无法读取</translation>
    </message>
    <message>
        <source>can’t be told</source>
        <translation>无法判断</translation>
    </message>
    <message>
        <source>changed, kept by others</source>
        <translation>已改变，由其他快照保留</translation>
    </message>
    <message>
        <source>clean</source>
        <translation>干净</translation>
    </message>
    <message>
        <source>different</source>
        <translation>不同</translation>
    </message>
    <message>
        <source>dirty</source>
        <translation>脏</translation>
    </message>
    <message>
        <source>in neither</source>
        <translation>两者皆无</translation>
    </message>
    <message>
        <source>only in this snapshot</source>
        <translation>仅在此快照中</translation>
    </message>
    <message>
        <source>only in {name}</source>
        <translation>仅在 {name} 中</translation>
    </message>
    <message>
        <source>shared</source>
        <translation>共享</translation>
    </message>
    <message>
        <source>the same</source>
        <translation>相同</translation>
    </message>
    <message>
        <source>written since</source>
        <translation>此后写入</translation>
    </message>
    <message>
        <source>{amount} can’t be read in one of them.</source>
        <translation>{amount} 在其中之一无法读取。</translation>
    </message>
    <message>
        <source>{amount} differ in what a guest reads.</source>
        <translation>客户机读到的内容有 {amount} 不同。</translation>
    </message>
</context>
<context>
    <name>places</name>
    <message>
        <source>bytes of the file</source>
        <translation>文件的字节</translation>
    </message>
    <message>
        <source>cluster {index}</source>
        <translation>簇 {index}</translation>
    </message>
    <message>
        <source>guest cluster {index}</source>
        <translation>客户机簇 {index}</translation>
    </message>
    <message>
        <source>guest {offset} ({size})</source>
        <translation>客户机 {offset} ({size})</translation>
    </message>
    <message>
        <source>host {range}</source>
        <translation>宿主 {range}</translation>
    </message>
</context>
<context>
    <name>presets</name>
    <message>
        <source>A plain disk for any program; zeros take no space.</source>
        <translation>任何程序都能使用的普通磁盘；零不占空间。</translation>
    </message>
    <message>
        <source>As the source is, packed anew: no leaks, no gaps.</source>
        <translation>与源相同，重新打包：无泄漏，无间隙。</translation>
    </message>
    <message>
        <source>Done soonest, and still a good deal smaller.</source>
        <translation>最快完成，且仍明显更小。</translation>
    </message>
    <message>
        <source>Optimise as a copy</source>
        <translation>优化为副本</translation>
    </message>
    <message>
        <source>Raw disk</source>
        <translation>raw 磁盘</translation>
    </message>
    <message>
        <source>Read by every program that knows compressed qcow2.</source>
        <translation>所有支持压缩 qcow2 的程序都能读取。</translation>
    </message>
    <message>
        <source>To keep and to send. Takes the longest; QEMU 5.1 or newer.</source>
        <translation>用于保存和传输。耗时最长；需要 QEMU 5.1 或更新版本。</translation>
    </message>
    <message>
        <source>qcow2, fastest</source>
        <translation>qcow2，最快</translation>
    </message>
    <message>
        <source>qcow2, most compatible</source>
        <translation>qcow2，兼容性最好</translation>
    </message>
    <message>
        <source>qcow2, smallest</source>
        <translation>qcow2，最小</translation>
    </message>
</context>
<context>
    <name>queue</name>
    <message>
        <source>Cancelled after {time}; nothing was left behind</source>
        <translation>{time} 后取消；没有留下任何文件</translation>
    </message>
    <message>
        <source>Cancelling…</source>
        <translation>正在取消…</translation>
    </message>
    <message>
        <source>Converting</source>
        <translation>正在转换</translation>
    </message>
    <message>
        <source>Finishing</source>
        <translation>正在收尾</translation>
    </message>
    <message>
        <source>Interrupted: the window ended before it was done; nothing was left behind</source>
        <translation>已中断：窗口在完成之前关闭；没有留下任何文件</translation>
    </message>
    <message>
        <source>Paused at {part}</source>
        <translation>在 {part} 处暂停</translation>
    </message>
    <message>
        <source>Preparing</source>
        <translation>正在准备</translation>
    </message>
    <message>
        <source>The file was there already: made and verified before the interruption</source>
        <translation>文件已存在：中断之前已生成并校验</translation>
    </message>
    <message>
        <source>The image refers to {count} that was not opened without your consent: {files}</source>
        <translation>映像引用了 {count}，未经您同意没有打开：{files}</translation>
    </message>
    <message>
        <source>The losses are listed in {name}</source>
        <translation>损失列于 {name}</translation>
    </message>
    <message>
        <source>Verifying</source>
        <translation>正在校验</translation>
    </message>
    <message>
        <source>Waiting</source>
        <translation>等待中</translation>
    </message>
    <message>
        <source>not verified</source>
        <translation>未校验</translation>
    </message>
    <message>
        <source>ratio {ratio} so far</source>
        <translation>目前比率 {ratio}</translation>
    </message>
    <message>
        <source>verified</source>
        <translation>已校验</translation>
    </message>
    <message>
        <source>{conversions} done</source>
        <translation>{conversions}已完成</translation>
    </message>
    <message>
        <source>{count} cancelled</source>
        <translation>{count} 个已取消</translation>
    </message>
    <message>
        <source>{count} failed</source>
        <translation>{count} 个失败</translation>
    </message>
    <message>
        <source>{ended} of {count}</source>
        <translation>{ended} / {count}</translation>
    </message>
    <message>
        <source>{rate} in</source>
        <translation>读 {rate}</translation>
    </message>
    <message>
        <source>{rate} out</source>
        <translation>写 {rate}</translation>
    </message>
    <message>
        <source>{size} on disk</source>
        <translation>占用磁盘 {size}</translation>
    </message>
    <message>
        <source>{time} left</source>
        <translation>剩余 {time}</translation>
    </message>
    <message>
        <source>{time} left, then verifying</source>
        <translation>剩余 {time}，然后校验</translation>
    </message>
</context>
<context>
    <name>report</name>
    <message>
        <source>the file’s clusters</source>
        <translation>文件的簇</translation>
    </message>
    <message>
        <source>the guest’s disk</source>
        <translation>客户机磁盘</translation>
    </message>
</context>
<context>
    <name>salvage</name>
    <message>
        <source>#</source>
        <translation>#</translation>
    </message>
    <message>
        <source>, extended L2 entries</source>
        <translation>，扩展 L2 表项</translation>
    </message>
    <message>
        <source>Clusters</source>
        <translation>簇</translation>
    </message>
    <message>
        <source>Finishing</source>
        <translation>正在收尾</translation>
    </message>
    <message>
        <source>Found: {what}.</source>
        <translation>找到：{what}。</translation>
    </message>
    <message>
        <source>Guest from</source>
        <translation>客户机起点</translation>
    </message>
    <message>
        <source>Known losses</source>
        <translation>已知损失</translation>
    </message>
    <message>
        <source>L2 tables</source>
        <translation>L2 表</translation>
    </message>
    <message>
        <source>Length</source>
        <translation>长度</translation>
    </message>
    <message>
        <source>Nothing that could be an L1 or L2 table was found: this was no qcow2 image, or all of its tables are gone.</source>
        <translation>没有找到可能是 L1 或 L2 表的内容：这不是 qcow2 映像，或其所有表都已丢失。</translation>
    </message>
    <message>
        <source>Preparing</source>
        <translation>正在准备</translation>
    </message>
    <message>
        <source>Read by</source>
        <translation>读取方式</translation>
    </message>
    <message>
        <source>Score</source>
        <translation>评分</translation>
    </message>
    <message>
        <source>Verifying</source>
        <translation>正在校验</translation>
    </message>
    <message>
        <source>Version {version}, {bytes} bytes, {compression}{wide}, {bits}-bit refcounts</source>
        <translation>版本 {version}，{bytes} 字节，{compression}{wide}，{bits} 位引用计数</translation>
    </message>
    <message>
        <source>Virtual size</source>
        <translation>虚拟大小</translation>
    </message>
    <message>
        <source>What it leaves unused</source>
        <translation>未使用的内容</translation>
    </message>
    <message>
        <source>What it loses</source>
        <translation>丢失的内容</translation>
    </message>
    <message>
        <source>What nothing in the file tells</source>
        <translation>文件无法说明的内容</translation>
    </message>
    <message>
        <source>What speaks for it</source>
        <translation>支持的依据</translation>
    </message>
    <message>
        <source>Why it is lost</source>
        <translation>丢失原因</translation>
    </message>
    <message>
        <source>Writing</source>
        <translation>正在写入</translation>
    </message>
    <message>
        <source>guest {start} – {end}: {reason}</source>
        <translation>客户机 {start} – {end}：{reason}</translation>
    </message>
    <message>
        <source>host {start} – {end}</source>
        <translation>宿主 {start} – {end}</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>to</source>
        <translation>至</translation>
    </message>
    <message>
        <source>{count} damaged</source>
        <translation>{count} 损坏</translation>
    </message>
    <message>
        <source>{count} lost</source>
        <translation>{count} 丢失</translation>
    </message>
    <message>
        <source>{count} whole</source>
        <translation>{count} 完好</translation>
    </message>
    <message>
        <source>{phase}: {done} of {total}</source>
        <translation>{phase}：{done} / {total}</translation>
    </message>
</context>
<context>
    <name>severities</name>
    <message>
        <source>corruption</source>
        <translation>损坏</translation>
    </message>
    <message>
        <source>fatal</source>
        <translation>致命</translation>
    </message>
    <message>
        <source>leak</source>
        <translation>泄漏</translation>
    </message>
    <message>
        <source>note</source>
        <translation>备注</translation>
    </message>
    <message>
        <source>suspicious</source>
        <translation>可疑</translation>
    </message>
</context>
<context>
    <name>states</name>
    <message>
        <source>A host cluster holds it as it is.</source>
        <translation>由一个宿主簇原样保存。</translation>
    </message>
    <message>
        <source>Behind the end of the guest&apos;s disk.</source>
        <translation>在客户机磁盘末尾之后。</translation>
    </message>
    <message>
        <source>Bits of a persistent bitmap: what changed since a backup.</source>
        <translation>持久位图的数据：自备份以来的变化。</translation>
    </message>
    <message>
        <source>Counted as used, but nothing refers to it: wasted space, or a lost table&apos;s data.</source>
        <translation>计为已用，但没有任何引用：浪费的空间，或丢失的表所映射的数据。</translation>
    </message>
    <message>
        <source>Counts how often clusters are used; it can be rebuilt.</source>
        <translation>记录各簇的使用次数；可以重建。</translation>
    </message>
    <message>
        <source>Holds compressed guest clusters, often several of them.</source>
        <translation>含压缩的客户机簇，常有多个。</translation>
    </message>
    <message>
        <source>Holds one cluster of the guest&apos;s disk as it is.</source>
        <translation>原样保存客户机磁盘的一个簇。</translation>
    </message>
    <message>
        <source>In use, but counted as free: the next write may overwrite it.</source>
        <translation>正在使用却计为空闲：下次写入可能将其覆盖。</translation>
    </message>
    <message>
        <source>Inside the file, but nothing uses it; the next write may.</source>
        <translation>在文件内但无人使用；下次写入可能占用。</translation>
    </message>
    <message>
        <source>Its L2 entry contradicts the format: reading it is an error.</source>
        <translation>其 L2 表项与格式矛盾：读取会出错。</translation>
    </message>
    <message>
        <source>Kept for a guest cluster that reads as zeros; its bytes don&apos;t count.</source>
        <translation>为读作零的客户机簇保留；其字节无意义。</translation>
    </message>
    <message>
        <source>L1 table</source>
        <translation>L1 表</translation>
    </message>
    <message>
        <source>L2 table</source>
        <translation>L2 表</translation>
    </message>
    <message>
        <source>Never written: reads as zeros and takes no space.</source>
        <translation>从未写入：读作零，不占空间。</translation>
    </message>
    <message>
        <source>No cluster of this file: it ends before.</source>
        <translation>不是此文件的簇：文件在此之前结束。</translation>
    </message>
    <message>
        <source>Not in this image: reads what the backing file has there.</source>
        <translation>不在此映像中：读取后备文件中的内容。</translation>
    </message>
    <message>
        <source>Only internal snapshots use it; deleting them would set it free.</source>
        <translation>仅供内部快照使用；删除快照即可释放。</translation>
    </message>
    <message>
        <source>Part of it is stored; the rest is zeros or not allocated.</source>
        <translation>一部分已存储；其余为零或未分配。</translation>
    </message>
    <message>
        <source>Reads as zeros; a host cluster is kept for the next write.</source>
        <translation>读作零；为下次写入保留了宿主簇。</translation>
    </message>
    <message>
        <source>Referred to, but the file ends before: its bytes are gone.</source>
        <translation>有引用，但文件在此之前结束：其字节已丢失。</translation>
    </message>
    <message>
        <source>Said to read as zeros; takes no space.</source>
        <translation>声明读作零；不占空间。</translation>
    </message>
    <message>
        <source>Says where guest clusters lie; losing it loses the way to all of them.</source>
        <translation>说明客户机簇的位置；丢失它就失去通往所有这些簇的路径。</translation>
    </message>
    <message>
        <source>Says where guest clusters of a snapshot lie; no active table is here.</source>
        <translation>说明快照的客户机簇的位置；此处没有活动的表。</translation>
    </message>
    <message>
        <source>Says where the L2 tables lie; losing it loses the way to the whole disk.</source>
        <translation>说明 L2 表的位置；丢失它就失去通往整个磁盘的路径。</translation>
    </message>
    <message>
        <source>Says where the L2 tables of a snapshot lie.</source>
        <translation>说明快照的 L2 表的位置。</translation>
    </message>
    <message>
        <source>Says where the refcount blocks lie; it can be rebuilt.</source>
        <translation>说明引用计数块的位置；可以重建。</translation>
    </message>
    <message>
        <source>Stored compressed; a write unpacks it.</source>
        <translation>压缩存储；写入时会解压。</translation>
    </message>
    <message>
        <source>The LUKS header; without it no passphrase opens the image.</source>
        <translation>LUKS 头；没有它，任何密码都无法打开映像。</translation>
    </message>
    <message>
        <source>The bitmap directory, or the table of one bitmap.</source>
        <translation>位图目录，或某个位图的表。</translation>
    </message>
    <message>
        <source>The file ends before its bytes: they are gone, or were never copied.</source>
        <translation>文件在其字节之前结束：已丢失，或从未复制。</translation>
    </message>
    <message>
        <source>The first cluster: sizes, features and where the tables lie.</source>
        <translation>第一个簇：大小、特性，以及各表的位置。</translation>
    </message>
    <message>
        <source>The list of internal snapshots and where their L1 tables lie.</source>
        <translation>内部快照列表，及其 L1 表的位置。</translation>
    </message>
    <message>
        <source>The table that would say where it is stored can&apos;t be read.</source>
        <translation>无法读取说明其存储位置的表。</translation>
    </message>
    <message>
        <source>Two owners that exclude each other use it: at least one of them is damaged.</source>
        <translation>被两个互斥的所有者使用：至少其一已损坏。</translation>
    </message>
    <message>
        <source>Used less often than counted: it would never be set free.</source>
        <translation>使用次数少于计数：永远不会被释放。</translation>
    </message>
    <message>
        <source>Used more often than counted: it may be set free while still in use.</source>
        <translation>使用次数多于计数：可能在使用中被释放。</translation>
    </message>
    <message>
        <source>beyond the end of the file</source>
        <translation>超出文件末尾</translation>
    </message>
    <message>
        <source>bitmap data</source>
        <translation>位图数据</translation>
    </message>
    <message>
        <source>bitmap metadata</source>
        <translation>位图元数据</translation>
    </message>
    <message>
        <source>compressed</source>
        <translation>压缩</translation>
    </message>
    <message>
        <source>compressed data</source>
        <translation>压缩数据</translation>
    </message>
    <message>
        <source>contested</source>
        <translation>冲突</translation>
    </message>
    <message>
        <source>data</source>
        <translation>数据</translation>
    </message>
    <message>
        <source>encryption header</source>
        <translation>加密头</translation>
    </message>
    <message>
        <source>free</source>
        <translation>空闲</translation>
    </message>
    <message>
        <source>from the backing file</source>
        <translation>来自后备文件</translation>
    </message>
    <message>
        <source>header</source>
        <translation>文件头</translation>
    </message>
    <message>
        <source>invalid</source>
        <translation>无效</translation>
    </message>
    <message>
        <source>leaked</source>
        <translation>泄漏</translation>
    </message>
    <message>
        <source>mixed subclusters</source>
        <translation>混合子簇</translation>
    </message>
    <message>
        <source>not allocated</source>
        <translation>未分配</translation>
    </message>
    <message>
        <source>outside</source>
        <translation>外部</translation>
    </message>
    <message>
        <source>refcount block</source>
        <translation>引用计数块</translation>
    </message>
    <message>
        <source>refcount table</source>
        <translation>引用计数表</translation>
    </message>
    <message>
        <source>refcount too high</source>
        <translation>引用计数过高</translation>
    </message>
    <message>
        <source>refcount too low</source>
        <translation>引用计数过低</translation>
    </message>
    <message>
        <source>snapshot L1 table</source>
        <translation>快照 L1 表</translation>
    </message>
    <message>
        <source>snapshot L2 table</source>
        <translation>快照 L2 表</translation>
    </message>
    <message>
        <source>snapshot data</source>
        <translation>快照数据</translation>
    </message>
    <message>
        <source>snapshot table</source>
        <translation>快照表</translation>
    </message>
    <message>
        <source>table missing</source>
        <translation>表缺失</translation>
    </message>
    <message>
        <source>used but counted free</source>
        <translation>已用但计为空闲</translation>
    </message>
    <message>
        <source>zero</source>
        <translation>零</translation>
    </message>
    <message>
        <source>zero, allocated</source>
        <translation>零，已分配</translation>
    </message>
</context>
<context>
    <name>structures</name>
    <message>
        <source>(unknown)</source>
        <translation>（未知）</translation>
    </message>
    <message>
        <source>Backing chain</source>
        <translation>后备链</translation>
    </message>
    <message>
        <source>Bitmaps</source>
        <translation>位图</translation>
    </message>
    <message>
        <source>Data file</source>
        <translation>数据文件</translation>
    </message>
    <message>
        <source>Encryption</source>
        <translation>加密</translation>
    </message>
    <message>
        <source>Entry at</source>
        <translation>条目位于</translation>
    </message>
    <message>
        <source>Extensions</source>
        <translation>扩展</translation>
    </message>
    <message>
        <source>Features</source>
        <translation>特性</translation>
    </message>
    <message>
        <source>Field</source>
        <translation>字段</translation>
    </message>
    <message>
        <source>Format</source>
        <translation>格式</translation>
    </message>
    <message>
        <source>Granularity</source>
        <translation>粒度</translation>
    </message>
    <message>
        <source>Header</source>
        <translation>文件头</translation>
    </message>
    <message>
        <source>ID</source>
        <translation>ID</translation>
    </message>
    <message>
        <source>L1 entries</source>
        <translation>L1 表项</translation>
    </message>
    <message>
        <source>L1 table</source>
        <translation>L1 表</translation>
    </message>
    <message>
        <source>L2 table of L1[{index}]</source>
        <translation>L1[{index}] 的 L2 表</translation>
    </message>
    <message>
        <source>Leads to</source>
        <translation>指向</translation>
    </message>
    <message>
        <source>Meaning</source>
        <translation>含义</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>Name in the image</source>
        <translation>映像中的名称</translation>
    </message>
    <message>
        <source>Refcount block {index}</source>
        <translation>引用计数块 {index}</translation>
    </message>
    <message>
        <source>Refcount table</source>
        <translation>引用计数表</translation>
    </message>
    <message>
        <source>Snapshots</source>
        <translation>快照</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>Table at</source>
        <translation>表位于</translation>
    </message>
    <message>
        <source>Table entries</source>
        <translation>表项数</translation>
    </message>
    <message>
        <source>Table of bitmap “{name}”</source>
        <translation>位图“{name}”的表</translation>
    </message>
    <message>
        <source>Taken (UTC)</source>
        <translation>创建时间 (UTC)</translation>
    </message>
    <message>
        <source>Type</source>
        <translation>类型</translation>
    </message>
    <message>
        <source>VM clock</source>
        <translation>虚拟机时钟</translation>
    </message>
    <message>
        <source>VM state</source>
        <translation>虚拟机状态</translation>
    </message>
    <message>
        <source>Value</source>
        <translation>值</translation>
    </message>
    <message>
        <source>Virtual size</source>
        <translation>虚拟大小</translation>
    </message>
    <message>
        <source>data</source>
        <translation>数据</translation>
    </message>
    <message>
        <source>exists, in the image’s folder; not opened</source>
        <translation>存在，在映像的文件夹中；未打开</translation>
    </message>
    <message>
        <source>exists, outside the image’s folder; not opened</source>
        <translation>存在，在映像的文件夹之外；未打开</translation>
    </message>
    <message>
        <source>header bytes beyond the fields known today; kept</source>
        <translation>文件头中超出目前已知字段的字节；予以保留</translation>
    </message>
    <message>
        <source>key slot {index}</source>
        <translation>密钥槽 {index}</translation>
    </message>
    <message>
        <source>no plain file name: never opened</source>
        <translation>不是普通文件名：从不打开</translation>
    </message>
    <message>
        <source>not found</source>
        <translation>未找到</translation>
    </message>
    <message>
        <source>not recorded</source>
        <translation>未记录</translation>
    </message>
    <message>
        <source>set</source>
        <translation>已置位</translation>
    </message>
    <message>
        <source>the format calls it {name}</source>
        <translation>格式中称为 {name}</translation>
    </message>
    <message>
        <source>the format’s own name</source>
        <translation>格式本身的名称</translation>
    </message>
    <message>
        <source>the image’s name for a bit that the format does not define</source>
        <translation>映像为格式未定义的位所取的名称</translation>
    </message>
    <message>
        <source>type {number}, {length} of data</source>
        <translation>类型 {number}，{length} 数据</translation>
    </message>
    <message>
        <source>unknown class</source>
        <translation>未知类别</translation>
    </message>
    <message>
        <source>{count} more</source>
        <translation>另有 {count}</translation>
    </message>
    <message>
        <source>{count} set</source>
        <translation>{count} 已置位</translation>
    </message>
    <message>
        <source>{table}, snapshot “{name}”</source>
        <translation>{table}，快照“{name}”</translation>
    </message>
</context>
<context>
    <name>summary</name>
    <message>
        <source>Allocated</source>
        <translation>已分配</translation>
    </message>
    <message>
        <source>Backing</source>
        <translation>后备</translation>
    </message>
    <message>
        <source>Bitmaps</source>
        <translation>位图</translation>
    </message>
    <message>
        <source>Clusters</source>
        <translation>簇</translation>
    </message>
    <message>
        <source>Compressed</source>
        <translation>压缩</translation>
    </message>
    <message>
        <source>Compression</source>
        <translation>压缩</translation>
    </message>
    <message>
        <source>Data file</source>
        <translation>数据文件</translation>
    </message>
    <message>
        <source>File size</source>
        <translation>文件大小</translation>
    </message>
    <message>
        <source>Fragmented</source>
        <translation>碎片化</translation>
    </message>
    <message>
        <source>Snapshots</source>
        <translation>快照</translation>
    </message>
    <message>
        <source>Version</source>
        <translation>版本</translation>
    </message>
    <message>
        <source>Virtual size</source>
        <translation>虚拟大小</translation>
    </message>
    <message>
        <source>on disk: {size}</source>
        <translation>占用磁盘：{size}</translation>
    </message>
    <message>
        <source>the type of compressed clusters, if there are any</source>
        <translation>压缩簇的类型（如果有压缩簇）</translation>
    </message>
    <message>
        <source>{clusters} as zeros</source>
        <translation>{clusters}零</translation>
    </message>
    <message>
        <source>{compressed} of {stored} that are stored</source>
        <translation>{stored}已存储，其中 {compressed} 个压缩</translation>
    </message>
    <message>
        <source>{count} of {total} don’t lie behind the one before them in the file</source>
        <translation>{total}中有 {count} 个在文件中不紧接前一个</translation>
    </message>
    <message>
        <source>{stored} of {total} of the virtual disk are stored</source>
        <translation>虚拟磁盘的{total}中已存储 {stored}</translation>
    </message>
</context>
<context>
    <name>tree</name>
    <message>
        <source>Block {index}</source>
        <translation>块 {index}</translation>
    </message>
    <message>
        <source>Blocks {first} to {last}</source>
        <translation>块 {first} 至 {last}</translation>
    </message>
    <message>
        <source>L1 of “{name}”</source>
        <translation>“{name}”的 L1</translation>
    </message>
    <message>
        <source>L1 table</source>
        <translation>L1 表</translation>
    </message>
    <message>
        <source>Number {first} to {last}</source>
        <translation>编号 {first} 至 {last}</translation>
    </message>
    <message>
        <source>Refcount table</source>
        <translation>引用计数表</translation>
    </message>
    <message>
        <source>Table of “{name}”</source>
        <translation>“{name}”的表</translation>
    </message>
</context>
<context>
    <name>verdicts</name>
    <message>
        <source>check incomplete: not everything could be looked at</source>
        <translation>检查不完整：未能查看全部内容</translation>
    </message>
    <message>
        <source>corrupt: {errors}</source>
        <translation>已损坏：{errors}</translation>
    </message>
    <message>
        <source>corrupt: {errors}, {leaks}</source>
        <translation>已损坏：{errors}，{leaks}</translation>
    </message>
    <message>
        <source>fatal: where the guest&apos;s data lies can&apos;t be told from this header</source>
        <translation>致命：无法从此文件头得知客户机数据的位置</translation>
    </message>
    <message>
        <source>metadata consistent</source>
        <translation>元数据一致</translation>
    </message>
    <message>
        <source>metadata consistent but for {leaks}: counted as used, referred to by nothing</source>
        <translation>除 {leaks}外元数据一致：计为已用，但没有任何引用</translation>
    </message>
    <message>
        <source>metadata consistent, with {things}</source>
        <translation>元数据一致，有 {things}</translation>
    </message>
    <message>
        <source>{verdict}; not everything could be looked at</source>
        <translation>{verdict}；未能查看全部内容</translation>
    </message>
</context>
<context>
    <name>writing</name>
    <message>
        <source>Nothing was left behind.</source>
        <translation>没有留下任何文件。</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>进度</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>已停止</translation>
    </message>
</context>
</TS>
