"""A hook in Python: it runs inside hookline, in microseconds."""


def remind(event):
    if len(str(event.data.get("tool_output", ""))) > 200:
        return {"context": "That was long. Summarise it in one line."}
    return None
