// @vitest-environment happy-dom
import { act, screen, waitFor } from '@testing-library/react'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  button,
  choose,
  click,
  enter,
  field,
  openGroups,
  press,
  renderPage,
} from '../../../../../tests/unit/render'
import { answer, answerNames, refusal, requestsTo } from '../../../../../tests/unit/server'
import { setPrefs } from '../../../../lib/prefs'
import { newArgument } from '../../../tasks/draft/templates'
import { NewSchedulePage } from '../NewSchedulePage'
import { RunTimes } from '../RunPreview'

const CREATE = 'POST /task/t1/schedule'
const PREVIEW = 'POST /schedule/preview'

beforeEach(() => {
  setPrefs({ zone: 'Europe/Berlin', clock: '24' })
  answerNames('task', [{ id: 't1', name: 'Backup', detail: 'web-1' }])
  answerNames('workflow', [{ id: 'w1', name: 'Release' }])
  answer('GET /task/t1', {
    name: 'Backup',
    enable: true,
    acl: [],
    task_arguments: [newArgument('input', { label: 'Target', value: 's3' })],
  })
  answer('GET /workflows/w1', { name: 'Release', enable: true, acl: [], start_task_id: 't1' })
  answer(PREVIEW, [{ date: '2026-05-04T05:00:00Z', local: '2026-05-04T07:00:00+02:00' }])
  answer(CREATE, { id: 's1' })
})
afterEach(() => setPrefs({ zone: '', clock: 'auto' }))

const open = (search = '?task=t1', level = 'admin') =>
  renderPage(<NewSchedulePage />, {
    address: `/schedules/new${search}`,
    path: 'schedules/new',
    level,
  })

const created = () => requestsTo(CREATE)[0]!.body

test('a schedule of a task: cron expression, zone and proposed arguments', async () => {
  const { location } = await open()
  await waitFor(() => expect(field('Target').value).toBe('s3'))
  enter('Cron expression', '30 2 * * mon-fri')
  enter('Name', 'Nightly')
  await click('Create')
  await waitFor(() => expect(location().pathname).toBe('/acme/schedules/s1'))
  expect(created()).toEqual({
    name: 'Nightly',
    repeatEvery: '30 2 * * mon-fri',
    runDate: null,
    timezone: 'Europe/Berlin',
    overlap: 'skip',
    missed: 'skip',
    enable: true,
    task_arguments: ['s3'],
  })
})

test('a cron expression is explained in words, in the language of the reader', async () => {
  await open()
  enter('Cron expression', '0 7 * * 1')
  expect(await screen.findByText('At 07:00, only on Monday')).toBeTruthy()
})

test('an expression that cannot be explained is left to the server', async () => {
  await open()
  enter('Cron expression', '@daily')
  await waitFor(() => expect(screen.queryByText('At 07:00')).toBeNull())
})

test('the next runs are shown on both clocks', async () => {
  await open()
  const table = await screen.findByRole('table', { name: 'Next runs' })
  expect(table.textContent).toContain('Your time (Europe/Berlin)')
  expect(table.textContent).toContain('07:00')
  expect(requestsTo(PREVIEW)[0]!.body).toMatchObject({ repeatEvery: '0 7 * * *', count: 5 })
})

test('a refusal of the server is shown instead of the next runs', async () => {
  answer(
    PREVIEW,
    refusal(400, 'Invalid.', [{ field: 'repeatEvery', message: 'Hour 25 is invalid.' }]),
  )
  await open()
  expect((await screen.findByRole('alert')).textContent).toBe('Hour 25 is invalid.')
})

test('an interval and a single date are other forms of time', async () => {
  await open()
  await waitFor(() => field('Target'))
  await click('Interval', 'radio')
  expect(screen.getByDisplayValue('every 15 minutes')).toBeTruthy()
  await click('Once', 'radio')
  expect(screen.queryByLabelText(/^Cron expression/)).toBeNull()
  enter('Date', '2030-01-01T08:00')
  await click('Create')
  await waitFor(() => expect(requestsTo(CREATE)).toHaveLength(1))
  expect(created()).toMatchObject({ repeatEvery: null, runDate: '2030-01-01T08:00' })
})

test('without a target nothing can be created', async () => {
  await open('')
  expect(button('Create').disabled).toBe(true)
  await act(async () => press('s', { ctrlKey: true }))
  expect(requestsTo(CREATE)).toEqual([])
  await choose('Task or workflow', 'Backup, web-1')
  expect(button('Create').disabled).toBe(false)
})

test('another target brings its own arguments', async () => {
  answer('POST /workflows/w1/schedule', { id: 's2' })
  const { location } = await open()
  await waitFor(() => expect(field('Target').value).toBe('s3'))
  enter('Target', 'tape')
  await choose('Task or workflow', 'Release')
  await waitFor(() => expect(field('Target').value).toBe('s3'))
  await click('Create')
  await waitFor(() => expect(location().pathname).toBe('/acme/schedules/s2'))
})

test('overlapping runs and runs missed while the server was down', async () => {
  await open()
  await openGroups()
  await choose('If an earlier run has not finished', 'queue it anyway')
  await choose('After server downtime', 'run once for all missed runs')
  await click('Create')
  await waitFor(() => expect(requestsTo(CREATE)).toHaveLength(1))
  expect(created()).toMatchObject({ overlap: 'queue', missed: 'once' })
})

test('a refused field is marked', async () => {
  answer(CREATE, refusal(400, 'Invalid.', [{ field: 'timezone', message: 'Unknown time zone.' }]))
  await open()
  await waitFor(() => field('Target'))
  await click('Create')
  expect(await screen.findByText('Unknown time zone.')).toBeTruthy()
})

test('a reader below admin cannot create schedules', async () => {
  await open('?task=t1', 'manager')
  expect(screen.getByText('Only admins can change schedules.')).toBeTruthy()
})

const run = (change: object) => ({
  date: '2026-03-29T01:00:00Z',
  local: '2026-03-29T03:00:00+02:00',
  ...change,
})

test.each([
  ['moved', { clock_change: 'moved', meant: '2026-03-29T02:30:00' }, /The clocks skip .*02:30/],
  ['repeated', { clock_change: 'repeated' }, /occurs twice/],
  ['paused', { paused: true }, /skipped: paused/],
])('a run that is %s says so', async (_, change, text) => {
  await renderPage(<RunTimes fires={[run(change as object)] as never} zone="Europe/Berlin" />)
  expect(screen.getByText(text as RegExp)).toBeTruthy()
})

test('a schedule without further runs says so', async () => {
  await renderPage(<RunTimes fires={[]} zone="UTC" />)
  expect(screen.getByText('no further run')).toBeTruthy()
})
