"""What is reached of libraries beyond their documentation: the line it leans on, and the versions it was read in.

`LEANS_ON` names a library's file and a line that must stand in it; `BOUND` the versions in which somebody looked.
"""
