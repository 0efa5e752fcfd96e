// Patterns of arguments are written by admins and tested while a person types. The browser's engine backtracks, so a careless pattern
// could block the page. Only those that are certainly cheap are tested here; the server, which matches in linear time, decides on all.

// As the server: longer values never match.
const MAX_VALUE = 1_000
const MAX_PATTERN = 1_000
// Ways in which the quantifiers of a pattern can share out a value.
const MAX_CHOICES = 1_000_000

const ESCAPE = /\\./gsu
const CLASS = /\[\^?\]?[^\]]*\]/gu
const QUANTIFIER = /[*+?]|\{(\d+)(,?)(\d*)\}/gu

/** Whether a match takes a bounded number of steps, whatever the value is. */
export function isCheap(pattern: string): boolean {
  if (pattern.length > MAX_PATTERN) return false
  const plain = pattern.replace(ESCAPE, 'x').replace(CLASS, 'x')
  // Groups can be repeated inside each other, or double the ways with every alternative.
  if (/[()[\]]/u.test(plain)) return false
  let choices = 1
  for (const [text, least, comma, most] of plain.matchAll(QUANTIFIER)) {
    if (text === '?') choices *= 2
    else if (least === undefined || (comma && !most)) choices *= MAX_VALUE
    else if (most) choices *= Math.max(1, Math.min(Number(most), MAX_VALUE) - Number(least) + 1)
  }
  return choices <= MAX_CHOICES
}

/** False only if the complete value certainly does not match. */
export function mayMatch(pattern: string, value: string): boolean {
  if (value.length > MAX_VALUE || !isCheap(pattern)) return true
  try {
    return new RegExp(`^(?:${pattern})$`, 'u').test(value)
  } catch {
    // Written for the server's engine: it decides.
    return true
  }
}
