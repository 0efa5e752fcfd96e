// @vitest-environment happy-dom
import { afterEach, expect, test } from 'vitest'
import { logOf } from '../../../../../tests/unit/log'
import { placeOf, selectedText, textBetween } from '../selection'

function boxOf(html: string): HTMLElement {
  const box = document.createElement('div')
  box.innerHTML = html
  document.body.append(box)
  return box
}

const row = (number: number, text: string, from = 0) =>
  `<div data-row="${number}" data-from="${from}"><a class="log-no">9</a><span class="log-text">${text}</span></div>`

afterEach(() => {
  document.getSelection()!.removeAllRanges()
  document.body.replaceChildren()
})

test('a place counts the characters of the row, through coloured parts', () => {
  const box = boxOf(row(3, 'ab<b>cd</b>ef'))
  const bold = box.querySelector('b')!.firstChild!
  expect(placeOf(box, bold, 1)).toEqual({ row: 3, at: 3 })
})

test('a place in a wrapped part counts from the start of the line', () => {
  const box = boxOf(row(3, 'xyz', 40))
  expect(placeOf(box, box.querySelector('.log-text')!.firstChild, 2)).toEqual({ row: 3, at: 42 })
})

test('the number in front of a line is the start of its text', () => {
  const box = boxOf(row(3, 'xyz', 40))
  expect(placeOf(box, box.querySelector('.log-no')!.firstChild, 1)).toEqual({ row: 3, at: 40 })
})

test('a place outside of the log is none', () => {
  const box = boxOf(row(0, 'abc'))
  expect(placeOf(box, document.body, 0)).toBeNull()
  expect(placeOf(box, null, 0)).toBeNull()
  expect(placeOf(box, box, 0)).toBeNull()
})

test('a selection made upwards has the same ends', () => {
  const box = boxOf(row(0, 'abc') + row(1, 'def'))
  const [first, second] = [...box.querySelectorAll('.log-text')].map((text) => text.firstChild!)
  document.getSelection()!.setBaseAndExtent(second!, 2, first!, 1)
  expect(selectedText(box)).toEqual([
    { row: 0, at: 1 },
    { row: 1, at: 2 },
  ])
})

test('without a selection there is nothing to copy', () => {
  expect(selectedText(boxOf(row(0, 'abc')))).toBeNull()
})

test('text between two places is plain, also of rows that are not drawn', () => {
  const store = logOf('one\n\x1b[31mtwo\x1b[0m\nthree\n')
  expect(textBetween(store, { row: 0, at: 1 }, { row: 2, at: 4 })).toBe('ne\ntwo\nthre')
  expect(textBetween(store, { row: 1, at: 1 }, { row: 1, at: 2 })).toBe('w')
})
