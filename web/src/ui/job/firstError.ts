export interface ErrorLine {
  /** From 1. */
  line: number
  text: string
}

const ERROR =
  /(?:^|[^a-z])(?:[a-z]*error|[a-z]*exception|fatal|panic|failed|failure|denied|refused|cannot|can't|could not|not found|no such|unable to|timed out|timeout|segmentation fault|killed)(?:[^a-z]|$)/i
// A line that counts no errors, or that only begins the report of one.
const HARMLESS = /\b(?:no|0|without) (?:errors?|failures?)\b|Traceback \(most recent call last\)/i

/** The first line that reports an error; `first` is the number of the first of these lines. */
export function firstErrorLine(lines: string[], first = 1): ErrorLine | null {
  return lineAt(
    lines,
    lines.findIndex((text) => ERROR.test(text) && !HARMLESS.test(text)),
    first,
  )
}

/** The last line with text. */
export function lastLine(lines: string[], first = 1): ErrorLine | null {
  return lineAt(
    lines,
    lines.findLastIndex((text) => text.trim() !== ''),
    first,
  )
}

function lineAt(lines: string[], index: number, first: number): ErrorLine | null {
  return index < 0 ? null : { line: first + index, text: lines[index]!.trim() }
}
