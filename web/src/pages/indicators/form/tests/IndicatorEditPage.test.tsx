// @vitest-environment happy-dom
import { fireEvent, screen, waitFor } from '@testing-library/react'
import { beforeEach, expect, test } from 'vitest'
import {
  button,
  choose,
  click,
  enter,
  field,
  openGroups,
  renderPage,
  submit,
} from '../../../../../tests/unit/render'
import { answer, refusal, requestsTo } from '../../../../../tests/unit/server'
import { EditIndicatorPage, NewIndicatorPage } from '../IndicatorEditPage'
import { NEW_VALUES } from '../indicatorDraft'

const CREATE = 'POST /indicator'
const SAVE = 'PATCH /indicator/i1'
const FILE = '65f0c0ffee65f0c0ffee65f0'
const INDICATOR = {
  ...NEW_VALUES,
  id: 'i1',
  title: 'Queue',
  type: 'counter',
  value: 5,
  ttl: 120_000,
  version: 3,
}

beforeEach(() => {
  answer('GET /indicator/i1', INDICATOR)
  answer('GET /file', [{ id: FILE, filename: 'report.txt' }])
  answer(CREATE, { id: 'i9', title: 'Version' })
  answer(SAVE, { ...INDICATOR, version: 4 })
})

async function openNew() {
  const page = await renderPage(<NewIndicatorPage />)
  await openGroups()
  return page
}
async function openEdit() {
  const page = await renderPage(<EditIndicatorPage />, {
    address: '/indicators/i1/edit',
    path: 'indicators/$id/edit',
  })
  await screen.findByRole('button', { name: 'Save' })
  await openGroups()
  return page
}

test('a new indicator is created with its first value', async () => {
  const { location } = await openNew()
  enter('Title', 'Version')
  enter('Value', '1.2')
  enter('Stale after (minutes)', '5')
  fireEvent.click(field('Always first'))
  await submit('Create')
  await waitFor(() => expect(location().pathname).toBe('/acme/indicators/i9'))
  expect(requestsTo(CREATE)[0]!.body).toMatchObject({
    title: 'Version',
    type: 'text',
    value: '1.2',
    ttl: 300_000,
    sticky: true,
  })
})

test('another kind begins with a value of its own', async () => {
  await openNew()
  enter('Value', 'words')
  await choose('Kind', 'Counter')
  expect(field('Value').value).toBe('1')
  await choose('Kind', 'Chart')
  expect(JSON.parse(field('Value').value)).toHaveProperty('kind', 'line')
})

test('a file is a stored one or a text', async () => {
  await openNew()
  await choose('Kind', 'File')
  enter('Title', 'Report')
  await choose('Stored file', 'report.txt')
  expect(screen.queryByLabelText('Value')).toBeNull()
  await submit('Create')
  await waitFor(() => expect(requestsTo(CREATE)).toHaveLength(1))
  expect(requestsTo(CREATE)[0]!.body).toMatchObject({ type: 'file', value: FILE })
})

test('the part of a chart that is wrong is named', async () => {
  const errors = [{ field: 'value.series[0]', message: 'Needs a name.' }]
  answer(CREATE, refusal(400, 'Invalid.', errors))
  await openNew()
  await choose('Kind', 'Chart')
  await submit('Create')
  expect(await screen.findByText('value.series[0]: Needs a name.')).toBeTruthy()
})

test('an unchanged value is not sent: its source may have pushed another one', async () => {
  const { location } = await openEdit()
  expect(screen.queryByLabelText('Kind')).toBeNull()
  expect(field('Stale after (minutes)').value).toBe('2')
  enter('Title', 'Queue length')
  await submit('Save')
  await waitFor(() => expect(location().pathname).toBe('/acme/indicators/i1'))
  expect(requestsTo(SAVE)[0]!.body).toMatchObject({ title: 'Queue length', ttl: 120_000 })
  expect(requestsTo(SAVE)[0]!.body).not.toHaveProperty('value')
  expect(requestsTo(SAVE)[0]!.headers.get('if-match')).toBe('3')
})

test('a changed value is sent', async () => {
  await openEdit()
  enter('Value', '7')
  await submit('Save')
  await waitFor(() => expect(requestsTo(SAVE)).toHaveLength(1))
  expect(requestsTo(SAVE)[0]!.body).toMatchObject({ value: 7 })
})

test('after someone else’s change the newest version is loaded, and can be saved', async () => {
  answer(SAVE, refusal(412, 'Changed meanwhile.'))
  await openEdit()
  enter('Title', 'Mine')
  await submit('Save')
  expect(await screen.findByText(/Someone else changed this/)).toBeTruthy()
  expect(field('Title').value).toBe('Mine')
  answer('GET /indicator/i1', { ...INDICATOR, title: 'Theirs', version: 4 })
  answer(SAVE, { ...INDICATOR, version: 5 })
  await click('Reload')
  await waitFor(() => expect(field('Title').value).toBe('Theirs'))
  await submit('Save')
  await waitFor(() => expect(requestsTo(SAVE)).toHaveLength(2))
  expect(requestsTo(SAVE)[1]!.headers.get('if-match')).toBe('4')
})

test('an indicator is deleted after a question', async () => {
  answer('DELETE /indicator/i1', null)
  const { location } = await openEdit()
  await click('Delete')
  screen.getAllByRole('button', { name: 'Delete' }).at(-1)!.click()
  await waitFor(() => expect(location().pathname).toBe('/acme/indicators'))
})

test('a read-only indicator says why it cannot be deleted', async () => {
  answer('GET /indicator/i1', { ...INDICATOR, read_only: true })
  await openEdit()
  expect(button('Delete').disabled).toBe(true)
  expect(button('Delete').title).toBe('It cannot be dismissed. Allow dismissing it first.')
})
