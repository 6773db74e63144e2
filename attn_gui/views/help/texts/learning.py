"""Texts of what explains, compares, checks and teaches."""

from __future__ import annotations

from attn_gui.files import tours

_DIFFERENCE = "Copies or saves what has changed, for a report or a spreadsheet."

LEARNING_MENUS = {
    "Tours": "Short lessons in the window itself. Each sets it up, and gives back what was open when it ends.",
    "Try this": "Small experiments on this example. The outcome is told, and Undo takes the change back.",
}

LEARNING_ENTRIES = {
    **{f"{number}  {tour.title}": f"Starts the tour. {tour.summary}" for number, tour in enumerate(tours.listed(), 1)},
    "Drawer: why": "Shows or hides every step to the selected number, with the real numbers.",
    "Drawer: compare": "Shows or hides what was pinned beside what is there now, and their difference.",
    "Drawer: flow": "Shows or hides the weights as lines between tokens.",
    "Drawer: check my work": "Shows or hides where your own numbers are judged, cell by cell.",
    "Pin this experiment": "Keeps its numbers as they are now, to compare them with what comes of a change.",
    "Unpin": "Lets go of the pinned experiment and of the memory that it takes.",
    "Flow as PNG or SVG": "Writes the lines that are in sight in the Flow drawer to a file.",
    "Walk through": "Goes through the stages of the computation one formula at a time, with the selected cell’s "
    "numbers.",
    "Next step": "Goes to the tour’s next step and sets the window up for it.",
    "Previous step": "Goes to the tour’s step before and sets the window up for it.",
    "Leave the tour": "Ends the tour and brings back what was open before.",
    "Keep what I changed": "Goes on with what was changed in the last tour, in place of what was open before it.",
    "Make exercise": "Saves this experiment with stages left blank, for one student or a list of them.",
    "All steps": "Opens every step to this number in the Why drawer, with links to where each number comes from.",
    "Back": "Goes back to the number whose derivation was shown before.",
    "Text": "Copies every step as plain text.",
    "Markdown": "Copies every step as Markdown, with its formulas.",
    "Save as CSV": "Writes the difference to a file, every number with all its digits.",
    "Left as PNG or SVG": "Writes this picture with its labels and colour bar to a file.",
    "Right as PNG or SVG": "Writes this picture with its labels and colour bar to a file.",
    "Difference as PNG or SVG": "Writes the difference with its labels and colour bar to a file.",
    "Save as PNG or SVG": "Writes the lines that are in sight to a file.",
    "Why this number": "Shows every step to this number in the Why drawer.",
}

LEARNING = {
    "MainWindow": {
        "Why": "Opens every step to the selected number, with the real numbers.",
        "Compare": "Opens what was pinned beside what is there now, and their difference.",
        "Flow": "Opens the weights as lines between tokens.",
        "Check my work": "Opens where your own numbers are judged, cell by cell.",
    },
    "WhyDrawer": {
        "Back": "Goes back to the number whose derivation was shown before.",
        "Copy…": "Copies every step as text, Markdown or LaTeX.",
    },
    "WhyLine": {
        "All steps…": "Opens every step to this number in the Why drawer, with links to where each number comes from.",
        "Why…": "Where the selected number comes from, step by step with the real numbers.",
    },
    "HintLine": {
        "Start the tour": "Begins the first tour. What you have open comes back when it ends.",
        "Not now": "Takes the line away. The tours stay in the menu Learn.",
        "Do it": "Does this experiment on the example as it was shipped. Undo takes it back.",
        "Undo": "Takes the experiment back.",
        "Another": "Shows another experiment with this example.",
    },
    "StepsView": {"": "Every step to one number. Each number that was computed is a link to its own derivation."},
    "CompareDrawer": {
        "Stage": "Which stage is compared.",
        "Compare with": "What the present is set against: the pinned experiment, or another head.",
        "Copy or save the difference": _DIFFERENCE,
        "Compare two heads": "Sets the selected head against another one.",
    },
    "CompareBody": {"Figures": "How far the two are apart. A click on a place selects it in all three pictures."},
    "FlowDrawer": {
        "Lines of": "The lines of the head that the panels show, of heads added up, or of each in a colour of its own.",
        "Draw lines from weight": "Leaves out lines of smaller weight, so that the strong ones are seen. What is "
        "left out is told.",
        "Fit": "Brings as many tokens into sight as can be.",
    },
    "Legend": {"Head": "Draws the lines of this head, or leaves them out."},
    "Canvas": {
        "Flow from queries to keys": "Lines from queries to keys, as thick as their weights. Point at a token to see "
        "its lines alone.",
    },
    "FlowView": {
        "Scroll": "Brings other tokens of this column into sight.",
    },
    "WalkBar": {
        "Previous stage": "Goes to the stage before.",
        "Go through the stages": "Goes from stage to stage by itself, and rests when it is pressed again.",
        "Next stage": "Goes to the next stage.",
        "Stage": "All stages in their order. Drag, or click a name, to go to any of them.",
        "Seconds a stage": "How long each stage stays while it plays.",
        "Leave": "Ends the walk and goes back to where the focus was.",
    },
    "OperandTable": {"": "The numbers that go into this step, and what comes of them."},
    "VectorTable": {"": "The numbers of the row that this step makes."},
    "CheckDrawer": {
        "Stage": "Which stage’s table is given and judged.",
        "Open CSV": "Reads your numbers from a file; labels around them are left out.",
        "Clear": "Empties this table. Undo in the table brings it back.",
        "Check": "Judges this table: right, follows from yours, or wrong.",
        "As I type": "Judges every table while it is typed. Without it nothing is said before Check is pressed.",
        "Tables given": "The tables that were given, and how each stands. A click shows one.",
        "Karina’s printed tables": "Fills in the tables that were printed with this example, to see which numbers "
        "hold.",
        "": "Fills in the tables that were printed with this example, to see which of their numbers hold.",
    },
    "CheckTable": {"": "Your own numbers. Each gets a sign and a word: right, follows from yours, or wrong."},
    "ExerciseBar": {
        "Check": "Marks what is filled in. A stage that is right opens up.",
        "Show answers": "Opens what is still blank. Your answers can then not be changed.",
        "Restore": "Puts the given numbers back as they were handed out. Your answers stay.",
        "My answers": "Shows what you typed, in place of the panels.",
    },
    "WorkPanel": {"Stage to fill in": "Which of the stages that are asked is shown to be filled in."},
    "AnswerTable": {"": "Type your answers here, then press Check."},
    "MakeDialog": {
        "Name": "What the exercise is called, in its title and its file.",
        "Task": "What the student is to read first.",
        "Q, …": "Asks for this stage, and hides all that would give it away.",
        "K, …": "Asks for this stage, and hides all that would give it away.",
        "V, …": "Asks for this stage, and hides all that would give it away.",
        "A, …": "Asks for this stage, and hides all that would give it away.",
        "N, …": "Asks for this stage, and hides all that would give it away.",
        "output, …": "Asks for this stage, and hides all that would give it away.",
        "Decimals of the answers": "How exact an answer has to be.",
        "Show the answers": "Whether the answers may be shown, and after how many checks.",
        "Students": "Ids, one a line: each gets a file. Without any, one file is for everybody.",
        "From a file": "Reads the students’ ids from a file.",
        "Make": "Chooses where, and writes the files. They hold no answers.",
        "New embeddings for each student": "Draws each student’s embeddings from the id and the seed.",
        "New Q, K, V for each student": "Draws each student’s Q, K and V from the id and the seed.",
        "New given numbers for each student": "Draws each student’s scores and values from the id and the seed.",
        "New weights for each student": "Draws each student’s weights from the id and the seed.",
        "Smallest number": "The least that a drawn number may be.",
        "Largest number": "The most that a drawn number may be.",
        "Decimals of the numbers": "How many decimals the drawn numbers have: few are easier by hand.",
        "Seed": "The same seed and id draw the same numbers again.",
    },
    "TourBar": {
        "Show the answer": "Shows the answer, once you have thought of one.",
        "Hide the answer": "Hides the answer again.",
        "Try it": "Sets the window up so that it shows the answer.",
        "Set up again": "Shows again what this step speaks of, as one step that can be undone.",
        "Leave": "Ends the tour and brings back what was open before.",
        "Back": "Goes to the step before.",
        "Next": "Goes to the next step.",
        "Finish": "Ends the tour and brings back what was open before.",
    },
    "SaturationView": {
        "Keep the scale at 1/√d_k": "Lets the scale follow d_k, as attention does.",
        "d_k…": "How many numbers queries and keys have. Without the scale, scores grow with its root.",
        "Scale": "What dot products are multiplied by. Too much or too little, and keys are told apart badly.",
    },
}
