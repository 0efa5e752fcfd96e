// @vitest-environment happy-dom
import { EditorView } from '@codemirror/view'
import { act, screen, waitFor, within } from '@testing-library/react'
import { beforeEach, expect, test } from 'vitest'
import { button, click, press, renderPage } from '../../../../../tests/unit/render'
import { answer, answerNames, refusal, requestsTo } from '../../../../../tests/unit/server'
import type { Webhook } from '../../../../api/queries/automation/webhook'
import { newArgument } from '../../../tasks/draft/templates'
import { TestCall } from '../TestCall'

const SEND = 'POST /webhook/k1/trigger'
const HOOK = { id: 'k1', name: 'Push', signature: 'none', tasks: ['t1'], workflows: [] }

beforeEach(() => {
  answerNames('task', [{ id: 't1', name: 'Build' }])
  answerNames('workflow', [])
  answer('GET /task/t1', {
    name: 'Build',
    enable: true,
    acl: [],
    task_arguments: [
      newArgument('input', { label: 'Branch', value: 'main' }),
      newArgument('fixed', { label: 'Mode', value: 'fast' }),
      newArgument('input', { label: 'Tag' }),
    ],
  })
  answer(SEND, { jobs: [{ id: 'j1' }] })
})

async function open() {
  await renderPage(<TestCall hook={HOOK as unknown as Webhook} />)
  await screen.findByRole('table')
  expect(screen.queryByText(/runs nothing yet/)).toBeNull()
  await screen.findByRole('textbox')
}

const editor = () => EditorView.findFromDOM(screen.getByRole('textbox'))!
const write = (insert: string) =>
  act(async () =>
    editor().dispatch({ changes: { from: 0, to: editor().state.doc.length, insert } }),
  )
const mapping = () =>
  within(screen.getByRole('table'))
    .getAllByRole('row')
    .slice(1)
    .map((row) =>
      within(row)
        .getAllByRole('cell')
        .map((cell) => cell.textContent),
    )

test('the first payload fits the attached task, and shows the value of each argument', async () => {
  await open()
  await waitFor(() => expect(editor().state.doc.toString()).toContain('main'))
  await write('["dev", "ignored", "v1"]')
  await waitFor(() =>
    expect(mapping()).toEqual([
      ['1', 'Branch', 'dev'],
      ['—', 'Mode', 'fast fixed by the task'],
      ['3', 'Tag', 'v1'],
    ]),
  )
})

test('a missing element and those beyond the arguments are named', async () => {
  await open()
  await write('["dev"]')
  await waitFor(() => expect(mapping()[2]![2]).toBe('missing: the call is rejected'))
  await write('["a", "b", "c", "d", "e"]')
  expect(await screen.findByText('2 elements are beyond the arguments and ignored.')).toBeTruthy()
})

test('a payload that is no JSON cannot be sent', async () => {
  await open()
  await write('["dev"')
  expect(await screen.findByText('This is not valid JSON.')).toBeTruthy()
  expect(button('Send').disabled).toBe(true)
  await act(async () => press('Enter', { ctrlKey: true }))
  expect(requestsTo(SEND)).toEqual([])
})

test('the payload is sent as it was typed, and the number of jobs is shown', async () => {
  await open()
  await write('[1.0, "x", 12345678901234567890]')
  await click('Send')
  expect(await screen.findByText('Accepted: 1 job started.')).toBeTruthy()
  expect(requestsTo(SEND)[0]!.headers.get('content-type')).toBe('application/json')
  expect(requestsTo(SEND)[0]!.text).toBe('[1.0, "x", 12345678901234567890]')
})

test('one value counts as an array with one element', async () => {
  await open()
  await write('{"ref": "main"}')
  expect(await screen.findByText(/Not an array/)).toBeTruthy()
  expect(mapping()[0]).toEqual(['1', 'Branch', '{"ref":"main"}'])
})

test('a refusal is shown', async () => {
  answer(SEND, refusal(400, 'Argument Tag is missing.'))
  await open()
  await click('Send')
  expect((await screen.findByRole('alert')).textContent).toBe('Argument Tag is missing.')
})

test('a webhook without tasks says before the call that it runs nothing', async () => {
  await renderPage(<TestCall hook={{ ...HOOK, tasks: [] } as unknown as Webhook} />)
  expect(await screen.findByText(/This webhook runs nothing yet/)).toBeTruthy()
})
