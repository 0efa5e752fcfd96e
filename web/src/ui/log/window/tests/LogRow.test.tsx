// @vitest-environment happy-dom
import { fireEvent, screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { renderInConsole } from '../../../../../tests/unit/render'
import { LogRow } from '../LogRow'
import { MAX_DRAWN } from '../layout'

type Props = React.ComponentProps<typeof LogRow>

function open(props: Partial<Props> = {}) {
  const onLine = vi.fn()
  const onShowAll = vi.fn()
  const { container } = renderInConsole(
    <LogRow
      text="hello"
      row={4}
      from={0}
      to={MAX_DRAWN}
      y={80}
      line={5}
      needle=""
      isChosen={false}
      isCurrent={false}
      onLine={onLine}
      onShowAll={onShowAll}
      {...props}
    />,
  )
  const row = container.querySelector<HTMLElement>('.log-row')!
  return { row, text: row.querySelector('.log-text')!, onLine, onShowAll }
}

test('markup in the output stays text', () => {
  const { text } = open({ text: '<img src=x onerror=alert(1)>' })
  expect(text.textContent).toBe('<img src=x onerror=alert(1)>')
  expect(text.querySelector('img')).toBeNull()
})

test('colour codes become classes and are not part of the text', () => {
  const { text } = open({ text: 'a \x1b[31mred\x1b[0m b' })
  expect(text.textContent).toBe('a red b')
  expect(text.querySelector('.fg-red')!.textContent).toBe('red')
})

test('every match of the search is marked, whatever its case', () => {
  const { text } = open({ text: 'Error: an error', needle: 'error' })
  const marks = [...text.querySelectorAll('.is-found')].map((mark) => mark.textContent)
  expect(marks).toEqual(['Error', 'error'])
})

test('the number is a link to the line, and a click selects it without leaving the page', () => {
  const { onLine } = open()
  const link = screen.getByRole<HTMLAnchorElement>('link', { name: 'Line 5' })
  expect(link.getAttribute('href')).toMatch(/#L5$/)
  expect(fireEvent.click(link)).toBe(false)
  expect(onLine).toHaveBeenLastCalledWith(5, false)
  fireEvent.click(link, { shiftKey: true })
  expect(onLine).toHaveBeenLastCalledWith(5, true)
})

test('a click with Ctrl is left to the browser', () => {
  const { onLine } = open()
  expect(fireEvent.click(screen.getByRole('link'), { ctrlKey: true })).toBe(true)
  expect(onLine).not.toHaveBeenCalled()
})

test('the timestamp belongs to the number, so that it is not copied', () => {
  const { row, text } = open({ stamp: '12:00:01' })
  expect(row.querySelector('.log-no')!.getAttribute('data-t')).toBe('12:00:01')
  expect(text.textContent).toBe('hello')
})

test('a part of a wrapped line has no number of its own', () => {
  const { row, text } = open({ text: 'abcdefgh', from: 4, to: 6 })
  expect(screen.queryByRole('link')).toBeNull()
  expect(row.dataset.from).toBe('4')
  expect(text.textContent).toBe('ef')
})

test('a gap names how much is missing', () => {
  const { row, text } = open({ line: null, gap: { row: 4, from: 1_000, to: 4_000, line: 90 } })
  expect(row.dataset.gap).toBe('true')
  expect(text.textContent).toBe('3 kB missing')
})

test('a row that was dropped is marked while it is loaded again', () => {
  const { text } = open({ text: null })
  expect(text.textContent).toBe('…')
  expect(text.classList).toContain('log-gone')
})

test('a very long line is cut, with a button for the rest', () => {
  const { text, onShowAll } = open({ text: 'x'.repeat(MAX_DRAWN + 500) })
  expect(text.textContent).toHaveLength(MAX_DRAWN)
  fireEvent.click(screen.getByRole('button', { name: 'Show all 4,500 characters' }))
  expect(onShowAll).toHaveBeenCalledWith(4)
})

test('codes do not count as length', () => {
  open({ text: '\x1b[31mx\x1b[0m'.repeat(MAX_DRAWN) })
  expect(screen.queryByRole('button')).toBeNull()
})

test('selected and current lines are marked', () => {
  const { row } = open({ isChosen: true, isCurrent: true })
  expect([row.dataset.chosen, row.dataset.current]).toEqual(['true', 'true'])
})
