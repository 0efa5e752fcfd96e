import type { LogStore } from '../data/logStore'

/** A place in the log: a row, and a character of it. */
export interface Place {
  row: number
  at: number
}

/** The place of an end of the browser's selection in the log; null: outside of it. */
export function placeOf(box: HTMLElement, node: Node | null, offset: number): Place | null {
  if (!node || !box.contains(node)) return null
  const element = node instanceof HTMLElement ? node : node.parentElement
  const row = element?.closest<HTMLElement>('[data-row]')
  if (!row) return null
  const text = row.querySelector('.log-text')
  const from = Number(row.dataset.from)
  if (!text) return { row: Number(row.dataset.row), at: from }
  const before = document.createRange()
  before.selectNodeContents(text)
  const isBefore = before.comparePoint(node, offset)
  if (isBefore < 0) return { row: Number(row.dataset.row), at: from }
  if (isBefore === 0) before.setEnd(node, offset)
  return { row: Number(row.dataset.row), at: from + before.toString().length }
}

/** Both ends of the selection, the earlier first; null when it is not in the log. */
export function selectedText(box: HTMLElement): [Place, Place] | null {
  const chosen = document.getSelection()
  if (!chosen || chosen.isCollapsed) return null
  const a = placeOf(box, chosen.anchorNode, chosen.anchorOffset)
  const b = placeOf(box, chosen.focusNode, chosen.focusOffset)
  if (!a || !b) return null
  return a.row < b.row || (a.row === b.row && a.at <= b.at) ? [a, b] : [b, a]
}

/**
 * The text between two places as it was written: also of rows that are not on the screen, without
 * numbers, and without breaks where lines are only wrapped.
 */
export function textBetween(store: LogStore, from: Place, to: Place): string {
  const lines: string[] = []
  for (let row = from.row; row <= to.row; row++) {
    const text = store.plain(row)
    lines.push(text.slice(row === from.row ? from.at : 0, row === to.row ? to.at : undefined))
  }
  return lines.join('\n')
}
