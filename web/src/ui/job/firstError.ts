export interface ErrorLine {
  /** From 1. */
  line: number
  text: string
}

const ERROR =
  /(?:^|[^a-z])(?:[a-z]*error|[a-z]*exception|fatal|panic|failed|failure|denied|refused|cannot|can't|could not|not found|no such|unable to|timed out|timeout|segmentation fault|killed)(?:[^a-z]|$)/i
// A line that counts no errors, or that only begins the report of one.
const HARMLESS = /\b(?:no|0|without) (?:errors?|failures?)\b|Traceback \(most recent call last\)/i

/** The first line that reports an error, else the last line with text, if that is wanted. */
export function firstErrorLine(lines: string[], first = 1, orLast = true): ErrorLine | null {
  const texts = lines.map((text) => text.trim())
  const index = texts.findIndex((text) => ERROR.test(text) && !HARMLESS.test(text))
  const last = orLast ? texts.findLastIndex((text) => text !== '') : -1
  const at = index >= 0 ? index : last
  return at < 0 ? null : { line: first + at, text: texts[at]! }
}
