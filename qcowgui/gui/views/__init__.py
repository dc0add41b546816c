"""The widgets that the main window is made of."""
