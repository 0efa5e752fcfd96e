// @vitest-environment happy-dom
import { act, fireEvent, screen, waitFor } from '@testing-library/react'
import { useState } from 'react'
import { beforeEach, expect, test, vi } from 'vitest'
import {
  button,
  choose,
  click,
  enter,
  field,
  openGroups,
  press,
  renderPage,
  submit,
} from '../../../../../tests/unit/render'
import { answer, answerNames, refusal, requestsTo } from '../../../../../tests/unit/server'
import type { Monitor } from '../../../../api/queries/monitoring/monitor'
import { bodyOf, newValues, type Values } from '../kinds'
import { type MaintenanceWindow, MaintenanceWindows, windowText } from '../MaintenanceWindows'
import { NewMonitorPage } from '../MonitorEditPage'
import { MonitorForm } from '../MonitorForm'
import { PushUrl } from '../PushUrl'

const CREATE = 'POST /monitor'

beforeEach(() => {
  answerNames('host', [
    { id: 'h1', name: 'web-1' },
    { id: 'h2', name: 'web-2' },
  ])
  answer('GET /file', [{ id: 'f1', filename: 'check.sh' }])
  answerNames('monitor', [
    { id: 'm1', name: 'Disk', detail: 'web-1' },
    { id: 'm2', name: 'Group' },
  ])
  answer('GET /notify/rule', [])
  answer('GET /notify/channel', [])
})

/** Shows the form of a kind and returns the body that it would send. */
async function open(kind: string, errors: Record<string, string> = {}, self?: string) {
  let current: Values = {}
  const onSubmit = vi.fn()
  function Page() {
    const [values, setValues] = useState(() => newValues(kind))
    current = values
    return (
      <MonitorForm
        kind={kind}
        values={values}
        errors={errors}
        onChange={setValues}
        onSubmit={onSubmit}
        self={self}
        own={{ ids: [], set: () => {}, isDirty: false, save: async () => {} }}
      >
        <button type="submit">Save</button>
      </MonitorForm>
    )
  }
  await renderPage(<Page />)
  return { body: () => bodyOf(kind, current), onSubmit }
}

test('a web monitor: the usual fields first, the others on request', async () => {
  const { body } = await open('scraper')
  enter('Name', 'Shop')
  enter('Address', 'https://shop.example/')
  enter('Status', '2..')
  expect(button('Request and timeout').getAttribute('aria-expanded')).toBe('false')
  await click('Request and timeout')
  expect(button('Request and timeout').getAttribute('aria-expanded')).toBe('true')
  await choose('Method', 'POST')
  enter('Headers', 'Accept: text/html')
  fireEvent.click(field('The body is JSON'))
  expect(body()).toMatchObject({
    name: 'Shop',
    url: 'https://shop.example/',
    status_code: '2..',
    method: 'POST',
    headers: { Accept: 'text/html' },
    json: true,
  })
})

test('a refused field that is folded away is shown', async () => {
  await open('scraper', { max_ms: 'Must be at least 0.' })
  expect(button('Request and timeout').getAttribute('aria-expanded')).toBe('true')
  expect(screen.getByText('Must be at least 0.')).toBeTruthy()
})

test('times are entered in seconds and sent in milliseconds', async () => {
  const { body } = await open('push')
  await openGroups()
  expect(field('Interval (seconds)').value).toBe('60')
  enter('Interval (seconds)', '1.5')
  enter('Grace period (seconds)', '30')
  expect(body()).toMatchObject({ looptime: 1_500, grace: 30_000 })
})

test('an empty number is not sent', async () => {
  const { body } = await open('process')
  enter('At least', '')
  enter('At most', '5')
  expect(body()).not.toHaveProperty('least')
  expect(body()).toMatchObject({ most: 5 })
})

test('a script monitor chooses a stored script', async () => {
  const { body } = await open('script')
  await choose('Script', 'check.sh')
  expect(body()).toMatchObject({ script_id: 'f1' })
})

test('a file monitor maintains a stored file, or none', async () => {
  const { body } = await open('file')
  enter('Path of the file', '/etc/site.conf')
  expect(body()).toMatchObject({ file: '' })
  await choose('Stored file', 'check.sh')
  await openGroups()
  enter('Permissions', '0640')
  enter('Owner', 'root')
  enter('Group', 'www-data')
  expect(body()).toMatchObject({
    path: '/etc/site.conf',
    file: 'f1',
    permissions: '0640',
    os_username: 'root',
    os_groupname: 'www-data',
  })
})

test('a group cannot contain itself', async () => {
  const { body } = await open('nested', {}, 'm2')
  await choose('Members', 'Disk · web-1')
  expect(screen.queryByRole('option', { name: 'Group', hidden: true })).toBeNull()
  expect(body()).toMatchObject({ monitors: ['m1'] })
})

test.each([
  ['tcp', true],
  ['push', false],
  ['nested', false],
])('a %s monitor is checked by a host: %s', async (kind, hasHost) => {
  await open(kind as string)
  expect(screen.queryAllByLabelText(/^Checked by/).length > 0).toBe(hasHost)
})

test('the severity is chosen by its colour', async () => {
  const { body } = await open('file')
  await openGroups()
  await choose('Severity of a failure', 'Critical: red')
  expect(body()).toMatchObject({ failure_severity: 'CRITICAL' })
})

test('Ctrl+S sends the form', async () => {
  const { onSubmit } = await open('push')
  enter('Name', 'Backup')
  press('s', { ctrlKey: true })
  expect(onSubmit).toHaveBeenCalledOnce()
})

const weekly: MaintenanceWindow = {
  days: ['sat', 'sun'],
  at: '03:00',
  minutes: 90,
  timezone: 'UTC',
}

async function openWindows(value: MaintenanceWindow[], errors = {}) {
  const onChange = vi.fn()
  function Windows() {
    const [windows, setWindows] = useState(value)
    onChange.mockImplementation(setWindows)
    return <MaintenanceWindows value={windows} onChange={onChange} errors={errors} />
  }
  await renderPage(<Windows />)
  return () => onChange.mock.lastCall![0] as MaintenanceWindow[]
}

test('a new window is weekly, on Sunday night', async () => {
  const windows = await openWindows([])
  await click('Add a window')
  expect(windows()).toMatchObject([{ days: ['sun'], at: '03:00', minutes: 60 }])
})

test('days, time and length of a weekly window', async () => {
  const windows = await openWindows([weekly])
  fireEvent.click(screen.getByLabelText('Mon'))
  enter('At', '04:30')
  enter('Minutes', '15')
  expect(windows()[0]).toEqual({ ...weekly, days: ['sat', 'sun', 'mon'], at: '04:30', minutes: 15 })
})

test('a window can be a single period', async () => {
  const windows = await openWindows([weekly])
  await click('Once', 'radio')
  const { start, end } = windows()[0]!
  expect(Date.parse(end!) - Date.parse(start!)).toBe(3_600_000)
  enter('To', '2026-05-04T08:30')
  expect(windows()[0]).toEqual({ start, end: new Date('2026-05-04T08:30').toISOString() })
  enter('To', '')
  expect(windows()[0]!.end).toBe(new Date('2026-05-04T08:30').toISOString())
})

test('a window is removed, and an error belongs to its window', async () => {
  const windows = await openWindows([weekly, { ...weekly, at: '05:00' }], {
    'maintenance[1]': 'Overlaps with another window.',
  })
  expect(screen.getAllByText('Overlaps with another window.')).toHaveLength(1)
  await act(async () => screen.getAllByRole('button', { name: 'Remove this window' })[0]!.click())
  expect(windows()).toEqual([{ ...weekly, at: '05:00' }])
})

test('a window in words', () => {
  expect(windowText(weekly)).toBe('Sat, Sun at 03:00 for 90 min (UTC)')
})

const openNew = (search: string, level = 'admin') =>
  renderPage(<NewMonitorPage />, { address: `/monitors/new${search}`, path: 'monitors/new', level })

test('without a kind the page offers all of them', async () => {
  await openNew('?host=h2')
  const link = screen.getByRole('link', { name: /^Process/ })
  expect(link.getAttribute('href')).toBe('/acme/monitors/new?kind=process&host=h2')
})

test('a monitor is created, and its page opens', async () => {
  answer(CREATE, { id: 'm9', name: 'Mail' })
  const { location } = await openNew('?kind=tcp&host=h2')
  enter('Name', 'Mail')
  enter('Name or address', 'mail.example')
  enter('Port', '25')
  await submit('Create')
  await waitFor(() => expect(location().pathname).toBe('/acme/monitors/m9'))
  expect(requestsTo(CREATE)[0]!.body).toMatchObject({
    type: 'tcp',
    name: 'Mail',
    host_id: 'h2',
    target: 'mail.example',
    port: 25,
  })
})

test('the only host need not be chosen', async () => {
  answerNames('host', [{ id: 'h1', name: 'web-1' }])
  answer(CREATE, { id: 'm9', name: 'Ping' })
  await openNew('?kind=ping')
  await waitFor(() => expect(field('Checked by').value).toBe('web-1'))
  await submit('Create')
  await waitFor(() => expect(requestsTo(CREATE)).toHaveLength(1))
  expect(requestsTo(CREATE)[0]!.body).toMatchObject({ host_id: 'h1' })
})

test('a refusal is shown at its field', async () => {
  answer(CREATE, refusal(400, 'Invalid.', [{ field: 'name', message: 'Required.' }]))
  await openNew('?kind=push')
  await submit('Create')
  expect(await screen.findByText('Required.')).toBeTruthy()
})

test('the address of a push monitor is read only on request', async () => {
  answer('GET /monitor/m1/credentials', { url: 'https://b.example/push/k1' })
  await renderPage(<PushUrl monitor={{ id: 'm1' } as Monitor} />)
  expect(requestsTo('GET /monitor/m1/credentials')).toEqual([])
  await act(async () => screen.getAllByRole('button')[0]!.click())
  expect(await screen.findByText('https://b.example/push/k1')).toBeTruthy()
})

test('a reader who may not edit monitors does not see that there is an address', async () => {
  await renderPage(<PushUrl monitor={{ id: 'm1' } as Monitor} />, { level: 'manager' })
  expect(screen.queryByRole('button')).toBeNull()
})

test('a closed group says its values in words', async () => {
  await open('file')
  expect(await screen.findByText(/, low severity$/)).toBeTruthy()
  expect(screen.queryByText(/\bLOW\b/)).toBeNull()
})
