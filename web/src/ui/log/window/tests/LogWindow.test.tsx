// @vitest-environment happy-dom
import { act, fireEvent, screen } from '@testing-library/react'
import { createRef } from 'react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { giveLogWindowSize, logOf, numberedLines } from '../../../../../tests/unit/log'
import { renderInConsole } from '../../../../../tests/unit/render'
import type { LogStore } from '../../data/logStore'
import { LINE_PX } from '../LogRow'
import { LogWindow, type LogWindowHandle } from '../LogWindow'

type Props = React.ComponentProps<typeof LogWindow>

beforeEach(() => giveLogWindowSize(800, 20 * LINE_PX))
afterEach(() => void vi.restoreAllMocks())

function windowOf(store: LogStore, props: Partial<Props> = {}) {
  return (
    <LogWindow
      ref={null}
      store={store}
      wrap={false}
      times={null}
      isFollowing={false}
      onFollow={() => {}}
      needle=""
      current={null}
      chosen={null}
      onLine={() => {}}
      onShowAll={() => {}}
      {...props}
    />
  )
}

function open(store: LogStore, props: Partial<Props> = {}) {
  const ref = createRef<LogWindowHandle>()
  const onFollow = vi.fn()
  renderInConsole(windowOf(store, { ref, onFollow, ...props }))
  const box = screen.getByRole('log')
  const rows = () => [...box.querySelectorAll<HTMLElement>('.log-row')]
  const scrollTo = (top: number) => {
    box.scrollTop = top
    fireEvent.scroll(box)
  }
  return { box, rows, scrollTo, handle: () => ref.current!, onFollow }
}

const numbers = (rows: HTMLElement[]) => rows.map((row) => Number(row.dataset.row))

/** The store reports changes once per frame. */
const nextFrame = () => act(() => new Promise((done) => requestAnimationFrame(() => done(null))))

test('only the rows in view and some around them are drawn', () => {
  const { box, rows } = open(logOf(numberedLines(5_000)))
  expect(box.dataset.rows).toBe('5000')
  expect(box.querySelector<HTMLElement>('.log-size')!.style.height).toBe(`${5_000 * LINE_PX}px`)
  expect(numbers(rows())).toEqual(Array.from({ length: 32 }, (_, index) => index))
})

test('scrolling draws the rows of the new place', () => {
  const { rows, scrollTo } = open(logOf(numberedLines(5_000)))
  scrollTo(1_000 * LINE_PX)
  expect(numbers(rows()).at(0)).toBe(988)
  expect(numbers(rows()).at(-1)).toBe(1_031)
  expect(rows()[0]!.textContent).toBe('line 989')
  expect(rows()[0]!.style.transform).toBe(`translateY(${988 * LINE_PX}px)`)
})

test('a window that follows stays at the end when lines arrive', async () => {
  const store = logOf(numberedLines(100))
  const { box, rows } = open(store, { isFollowing: true })
  expect(box.scrollTop).toBe(100 * LINE_PX)
  store.append(numberedLines(50))
  await nextFrame()
  expect(box.scrollTop).toBe(150 * LINE_PX)
  fireEvent.scroll(box)
  expect(numbers(rows()).at(-1)).toBe(149)
})

test('scrolling up stops following, scrolling down does not', () => {
  const { scrollTo, onFollow } = open(logOf(numberedLines(100)), { isFollowing: true })
  scrollTo(100 * LINE_PX)
  scrollTo(100 * LINE_PX + 5)
  expect(onFollow).not.toHaveBeenCalled()
  scrollTo(50 * LINE_PX)
  expect(onFollow).toHaveBeenCalledWith(false)
})

test('the wheel upwards stops following at once', () => {
  const { box, onFollow } = open(logOf(numberedLines(100)), { isFollowing: true })
  fireEvent.wheel(box, { deltaY: 10 })
  expect(onFollow).not.toHaveBeenCalled()
  fireEvent.wheel(box, { deltaY: -10 })
  expect(onFollow).toHaveBeenCalledWith(false)
})

test('a log that became shorter does not stop following', async () => {
  const store = logOf(numberedLines(100))
  const { box, onFollow } = open(store, { isFollowing: true })
  fireEvent.scroll(box)
  act(() => store.clear(2))
  store.append(numberedLines(2))
  await nextFrame()
  fireEvent.scroll(box)
  expect(onFollow).not.toHaveBeenCalled()
})

test('a row is shown in the upper third of the window', () => {
  const { box, handle } = open(logOf(numberedLines(1_000)))
  const scroll = vi.spyOn(box, 'scrollTo')
  handle().show(600)
  expect(scroll).toHaveBeenLastCalledWith({ top: 600 * LINE_PX - (20 * LINE_PX) / 3 })
  handle().show(1)
  expect(scroll).toHaveBeenLastCalledWith({ top: 0 })
  handle().toEnd()
  expect(scroll).toHaveBeenLastCalledWith({ top: 1_000 * LINE_PX })
})

test('the first row in view is known', () => {
  const { scrollTo, handle } = open(logOf(numberedLines(1_000)))
  act(() => scrollTo(300 * LINE_PX))
  expect(handle().first()).toBe(300)
  handle().focus()
  expect(document.activeElement).toBe(screen.getByRole('log'))
})

test('a log higher than a browser can draw is still reached to its last line', () => {
  const store = logOf()
  vi.spyOn(store, 'rows', 'get').mockReturnValue(2_000_000)
  const { box, rows, scrollTo } = open(store)
  expect(box.scrollHeight).toBe(15_000_000)
  scrollTo(15_000_000 - 20 * LINE_PX)
  expect(numbers(rows()).at(-1)).toBe(1_999_999)
})

test('lines of the address and the current match are marked', () => {
  const { rows } = open(logOf(numberedLines(10)), { chosen: { from: 3, to: 5 }, current: 7 })
  const marked = (name: string) => numbers(rows().filter((row) => row.dataset[name]))
  expect(marked('chosen')).toEqual([2, 3, 4])
  expect(marked('current')).toEqual([7])
})

test('missing output is one row with its size', () => {
  const store = logOf('one\n')
  store.cut({ from: 4, to: 5_004, line: 80 })
  store.append('last\n')
  const { rows } = open(store)
  expect(rows().map((row) => row.textContent)).toEqual(['one', '5 kB missing', 'last'])
  expect(screen.getByRole('link', { name: 'Line 81' })).toBeTruthy()
})

test('a wrapped line is drawn as several rows that fit', async () => {
  giveLogWindowSize(40 + 25 * 7.5, 400)
  const store = logOf(`${'x'.repeat(50)}\nshort\n`)
  await act(async () => void renderInConsole(windowOf(store, { wrap: true })))
  const box = await screen.findByRole('log')
  const rows = [...box.querySelectorAll<HTMLElement>('.log-row')]
  expect(numbers(rows)).toEqual([0, 0, 0, 1])
  expect(rows.map((row) => row.textContent!.length)).toEqual([23, 23, 4, 5])
})

test('copying gives the text as it was written, without numbers', () => {
  const { box, rows } = open(logOf('one\ntwo\nthree\n'))
  const textOf = (row: number) => rows()[row]!.querySelector('.log-text')!.firstChild!
  const selection = document.getSelection()!
  selection.setBaseAndExtent(textOf(0), 1, textOf(2), 2)
  const setData = vi.fn()
  fireEvent.copy(box, { clipboardData: { setData } })
  expect(setData).toHaveBeenCalledWith('text/plain', 'ne\ntwo\nth')
  selection.removeAllRanges()
})
