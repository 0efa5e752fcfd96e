import { positions } from '../search/positions'
import { StyleParser, type TextStyle } from './textStyle'

/** A piece of a line in one look. Text only: nothing of it is ever markup. */
export interface Span extends TextStyle {
  text: string
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what escape codes are made of
const COLOUR = /\x1b\[([\d;]*)m/g
// Everything else that a terminal would obey: cursor moves, titles, links, character sets.
const OTHER =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what escape codes are made of
  /\x1b\](?:[^\x07\x1b]|\x1b(?!\\))*(?:\x07|\x1b\\|$)|\x1b[P^_X][\s\S]*?(?:\x1b\\|$)|\x1b\[(?![\d;]*m)[\x30-\x3f]*[\x20-\x2f]*[\x40-\x7e]?|\x1b[\x20-\x2f]*[\x30-\x5a\x5c\x60-\x7e]|\x9b[\x30-\x3f]*[\x20-\x2f]*[\x40-\x7e]/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: those that have no look of their own
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f]/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: a quick look for either
const SPECIAL = /[\x00-\x08\x0b-\x1f\x7f\x9b]/
const MOST_CODES = 12

/** The line as a reader sees it, without colours. */
export function plainText(line: string): string {
  return SPECIAL.test(line)
    ? withControlPictures(line.replace(OTHER, '').replace(COLOUR, ''))
    : line
}

/** Control characters become their pictures: a NUL is seen, and does nothing. */
function withControlPictures(text: string): string {
  return text.replace(CONTROL, (sign) =>
    sign === '\x7f' ? '\u2421' : String.fromCharCode(0x2400 + sign.charCodeAt(0)),
  )
}

/** The codes that are still active after a line, so that the next one continues in their colour. */
export function openStyle(line: string, before: string): string {
  if (!line.includes('\x1b[')) return before
  let open = before
  for (const [code, numbers] of line.matchAll(COLOUR)) {
    const isReset = numbers === '' || numbers === '0'
    if (isReset) open = ''
    else if (/^0*;|(^|;)0$/.test(numbers!)) open = numbers!.endsWith(';0') ? '' : code
    else open += code
  }
  const codes = open.match(COLOUR)
  return codes && codes.length > MOST_CODES ? codes.slice(-MOST_CODES).join('') : open
}

/** A line in its looks. */
export function spans(line: string): Span[] {
  if (!SPECIAL.test(line)) return [{ text: line, look: '' }]
  const style = new StyleParser()
  const result: Span[] = []
  for (const [i, part] of line.replace(OTHER, '').split(COLOUR).entries()) {
    // Every second part holds the numbers of the code between two texts.
    if (i % 2) style.obey(part)
    else if (part) result.push({ text: withControlPictures(part), ...style.look() })
  }
  return result
}

/** The same spans with the places of a text found in them set apart. */
export function markHits(line: Span[], needle: string): Span[] {
  const places = positions(line.map((span) => span.text).join(''), needle)
  if (places.length === 0) return line
  const result: Span[] = []
  let at = 0
  for (const span of line) {
    let from = 0
    for (const place of places) {
      const start = Math.max(place - at, from)
      const end = Math.min(place + needle.length - at, span.text.length)
      if (end <= start) continue
      if (start > from) result.push({ ...span, text: span.text.slice(from, start) })
      result.push({
        ...span,
        text: span.text.slice(start, end),
        look: `${span.look} is-found`.trim(),
      })
      from = end
    }
    if (from < span.text.length) result.push({ ...span, text: span.text.slice(from) })
    at += span.text.length
  }
  return result
}

/** A part of spans, by the places of its first and last character. */
export function sliceSpans(line: Span[], from: number, to: number): Span[] {
  const result: Span[] = []
  let at = 0
  for (const span of line) {
    const text = span.text.slice(Math.max(0, from - at), Math.max(0, to - at))
    if (text) result.push({ ...span, text })
    at += span.text.length
    if (at >= to) break
  }
  return result
}
