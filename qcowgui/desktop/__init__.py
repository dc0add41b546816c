"""The desktop around the program: menu entry, icons, file association; how pictures are made."""
