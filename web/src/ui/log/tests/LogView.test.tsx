// @vitest-environment happy-dom
import { act, fireEvent, screen, waitFor } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { eventText, giveLogWindowSize, numberedLines } from '../../../../tests/unit/log'
import { press, renderPage } from '../../../../tests/unit/render'
import { answer, type ReceivedRequest, requestsTo } from '../../../../tests/unit/server'
import { LogView } from '../LogView'
import { LINE_PX } from '../window/LogRow'

type Props = React.ComponentProps<typeof LogView>

beforeEach(() => giveLogWindowSize(800, 20 * LINE_PX))
afterEach(() => void vi.restoreAllMocks())

const endOf = (text: string) => ({ bytes: text.length, kept: text.length, complete: true })

function answerLog(text: string, isEnded = true): void {
  const parts = [eventText('output', text, `1/${text.length}`)]
  if (isEnded) parts.push(eventText('end', endOf(text)))
  const body = new TextEncoder().encode(parts.join(''))
  answer('GET /job/7/log', () =>
    isEnded
      ? new Response(body)
      : new Response(new ReadableStream({ start: (controller) => controller.enqueue(body) })),
  )
}

async function open(props: Partial<Props> = {}) {
  const onChosen = vi.fn()
  const view = (
    <LogView
      jobId="7"
      revision="1"
      isOver
      atEnd={false}
      chosen={null}
      onChosen={onChosen}
      filename="backup.log"
      {...props}
    />
  )
  const page = await renderPage(view)
  const box = await screen.findByRole('log')
  return { ...page, box, onChosen }
}

const rows = () => [...document.querySelectorAll<HTMLElement>('.log-row')]
const isDrawn = (text: string) => rows().some((row) => row.textContent === text)

test('the output of a finished job is shown from its start', async () => {
  answerLog(numberedLines(500))
  await open()
  await waitFor(() => expect(isDrawn('line 1')).toBe(true))
  expect(await screen.findByText('Complete')).toBeTruthy()
  expect(screen.getByText('500 lines')).toBeTruthy()
})

test('the log of a failed job opens at its last lines', async () => {
  answerLog(numberedLines(500))
  const { box } = await open({ atEnd: true })
  await waitFor(() => expect(box.scrollTop).toBe(500 * LINE_PX))
})

test('lines in the address are scrolled to and marked', async () => {
  answerLog(numberedLines(500))
  const { box } = await open({ chosen: { from: 300, to: 302 } })
  await waitFor(() => expect(box.scrollTop).toBeGreaterThan(280 * LINE_PX))
  fireEvent.scroll(box)
  const chosen = rows().filter((row) => row.dataset.chosen)
  expect(chosen.map((row) => row.textContent)).toEqual(['line 300', 'line 301', 'line 302'])
})

test('a click on a number selects the line, with Shift the range to it', async () => {
  answerLog(numberedLines(10))
  const { onChosen } = await open({ chosen: { from: 4, to: 4 } })
  fireEvent.click(await screen.findByRole('link', { name: 'Line 2' }))
  expect(onChosen).toHaveBeenLastCalledWith({ from: 2, to: 2 })
  fireEvent.click(screen.getByRole('link', { name: 'Line 2' }), { shiftKey: true })
  expect(onChosen).toHaveBeenLastCalledWith({ from: 2, to: 4 })
})

test('output that a full disk dropped is marked, and the log is not called complete', async () => {
  const parts = [
    eventText('output', 'first\n', '1/6'),
    eventText('cut', { from: 6, to: 3_006, line: 40 }),
    eventText('output', '[… 3000 bytes were cut here: 6 to 3006 …]', '1/3006'),
    eventText('output', 'last\n', '1/3011'),
    eventText('end', { bytes: 3_011, kept: 11, complete: false }),
  ]
  answer('GET /job/7/log', () => new Response(parts.join('')))
  await open()
  expect(await screen.findByText('Truncated')).toBeTruthy()
  expect(screen.queryByText('Complete')).toBeNull()
  const gap = rows().find((row) => row.dataset.gap)
  expect(gap?.textContent).toMatch(/missing$/)
  expect(rows().indexOf(gap!)).toBe(1)
  expect(isDrawn('first') && isDrawn('last')).toBe(true)
})

test('a script that wrote nothing says so', async () => {
  answer('GET /job/7/log', new Response(eventText('end', { bytes: 0, kept: 0, complete: true })))
  await open()
  expect(await screen.findByText('The script wrote no output.')).toBeTruthy()
})

test('a job that waits has no output yet', async () => {
  answerLog('', false)
  await open({ isWaiting: true, isOver: false })
  expect(await screen.findByText('No output yet.')).toBeTruthy()
})

test('a running job is followed, until the reader scrolls up', async () => {
  answerLog(numberedLines(100), false)
  const { box } = await open({ isOver: false })
  await waitFor(() => expect(box.scrollTop).toBe(100 * LINE_PX))
  expect(screen.getByLabelText<HTMLInputElement>('Follow').checked).toBe(true)
  fireEvent.wheel(box, { deltaY: -20 })
  expect(screen.getByLabelText<HTMLInputElement>('Follow').checked).toBe(false)
})

test('new lines are counted while the reader is elsewhere, and one click away', async () => {
  let send: (text: string) => void = () => {}
  const stream = new ReadableStream({
    start: (controller) => {
      send = (text) => controller.enqueue(new TextEncoder().encode(eventText('output', text)))
    },
  })
  answer('GET /job/7/log', () => new Response(stream))
  const { box } = await open({ isOver: false })
  send(numberedLines(100))
  await waitFor(() => expect(box.scrollTop).toBe(100 * LINE_PX))
  fireEvent.wheel(box, { deltaY: -20 })
  send(numberedLines(3))
  const button = await screen.findByRole('button', { name: '3 new lines' })
  fireEvent.click(button)
  await waitFor(() => expect(box.scrollTop).toBe(103 * LINE_PX))
  expect(screen.queryByRole('button', { name: '3 new lines' })).toBeNull()
})

test('w wraps lines, and the choice is remembered', async () => {
  answerLog(numberedLines(3))
  await open()
  await screen.findByText('Complete')
  await act(async () => press('w'))
  await waitFor(() =>
    expect(screen.getByRole('button', { name: 'Wrap lines', pressed: true })).toBeTruthy(),
  )
  expect(localStorage.getItem('belvedere-log-wrap')).toBe('yes')
})

test('t shows timestamps', async () => {
  answerLog(numberedLines(2))
  answer('GET /job/7/log/times', { marks: [{ line: 1, at: '2026-03-01T12:00:00Z' }], next: null })
  await open()
  await screen.findByText('Complete')
  await act(async () => press('t'))
  await waitFor(() => expect(document.querySelector('[data-t]:not([data-t=""])')).toBeTruthy())
})

test('Ctrl+F goes to the search of the log, not to the one of the browser', async () => {
  answerLog(numberedLines(2))
  await open()
  const field = screen.getByLabelText('Find in the log')
  const select = vi.spyOn(field as HTMLInputElement, 'select')
  press('f', { ctrlKey: true })
  expect(select).toHaveBeenCalled()
})

test('the full text of a long line opens in a dialog', async () => {
  answerLog(`${'x'.repeat(4_500)}\n`)
  await open()
  fireEvent.click(await screen.findByRole('button', { name: 'Show all 4,500 characters' }))
  const dialog = await screen.findByRole('dialog', { name: 'Line 1' })
  expect(dialog.querySelector('pre')!.textContent).toHaveLength(4_500)
})

test('the raw log and the stream are those of the chosen attempt', async () => {
  answer('GET /job/7/log', new Response(eventText('end', endOf(''))))
  await open({ attempt: 2 })
  await waitFor(() => expect(requestsTo('GET /job/7/log')).toHaveLength(1))
  expect(requestsTo('GET /job/7/log')[0]!.query.attempt).toBe('2')
  expect(screen.getByRole('link', { name: 'Raw' }).getAttribute('href')).toBe(
    '/job/7/log?attempt=2',
  )
})

const HITS = [120, 340].map((line) => ({ line, offset: line * 10 }))

test('a search counts in the whole log and steps through the matches', async () => {
  answerLog(numberedLines(500))
  answer('GET /job/7/log/search', ({ query }: ReceivedRequest) =>
    query.q === 'disk' ? { matches: 2, lines: HITS } : { matches: 0, lines: [] },
  )
  await open()
  await screen.findByText('Complete')
  const field = screen.getByLabelText('Find in the log')
  fireEvent.change(field, { target: { value: 'disk' } })
  expect(await screen.findByText('1 of 2')).toBeTruthy()
  fireEvent.keyDown(field, { key: 'Enter' })
  expect(await screen.findByText('2 of 2')).toBeTruthy()
  fireEvent.keyDown(field, { key: 'Enter', shiftKey: true })
  expect(await screen.findByText('1 of 2')).toBeTruthy()
  fireEvent.click(screen.getByRole('button', { name: 'Next match' }))
  expect(await screen.findByText('2 of 2')).toBeTruthy()
})

test('behind the last match the search starts again at the first', async () => {
  answerLog(numberedLines(500))
  answer('GET /job/7/log/search', ({ query }: ReceivedRequest) => {
    const lines = HITS.filter(({ offset }) => offset >= Number(query.from ?? 0))
    return { matches: lines.length, lines }
  })
  await open()
  await screen.findByText('Complete')
  fireEvent.change(screen.getByLabelText('Find in the log'), { target: { value: 'disk' } })
  await screen.findByText('1 of 2')
  press('n')
  await screen.findByText('2 of 2')
  press('n')
  expect(await screen.findByText('1 of 2')).toBeTruthy()
  press('N', { shiftKey: true })
  expect(await screen.findByText('2 of 2')).toBeTruthy()
})

test('a text that does not occur is reported, and the steps are disabled', async () => {
  answerLog(numberedLines(5))
  answer('GET /job/7/log/search', { matches: 0, lines: [] })
  await open()
  fireEvent.change(screen.getByLabelText('Find in the log'), { target: { value: 'absent' } })
  expect(await screen.findByText('No match')).toBeTruthy()
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Next match' }).disabled).toBe(true)
})
