"""The texts of What’s This: what each control and each entry of the menus does, and why one would use it."""

from attn_gui.views.help.texts.dialogs import DIALOGS
from attn_gui.views.help.texts.drawers import DRAWERS
from attn_gui.views.help.texts.layers import LAYER_ENTRIES, LAYERS
from attn_gui.views.help.texts.learning import LEARNING, LEARNING_ENTRIES, LEARNING_MENUS
from attn_gui.views.help.texts.menus import ENTRIES as OWN_ENTRIES
from attn_gui.views.help.texts.menus import MENUS as OWN_MENUS
from attn_gui.views.help.texts.models import MODEL_ENTRIES, MODEL_MENUS, MODELS
from attn_gui.views.help.texts.parameters import PARAMETERS
from attn_gui.views.help.texts.tensors import TENSOR_ENTRIES, TENSORS
from attn_gui.views.help.texts.window import QT_PARTS, WINDOW

# by the class of the control, or of a widget around it, and by what the control is called: its accessible name, what
# stands before or after a colon in it, its text, or its object name; "" for a control of that very class, or one in it
# that is not called anything while it is out of sight
CONTROLS = (
    WINDOW
    | DRAWERS
    | DIALOGS
    | PARAMETERS
    | LEARNING
    | TENSORS
    | LAYERS
    | MODELS
    | {"MainWindow": {**WINDOW["MainWindow"], **LEARNING["MainWindow"]}}
)
# by the whole place in the menus, or the entry's own name
ENTRIES = OWN_ENTRIES | LEARNING_ENTRIES | LAYER_ENTRIES | TENSOR_ENTRIES | MODEL_ENTRIES
# by a menu's title, for the menu and every entry in it without a text of its own
MENUS = OWN_MENUS | LEARNING_MENUS | MODEL_MENUS

__all__ = ["CONTROLS", "ENTRIES", "MENUS", "QT_PARTS"]
