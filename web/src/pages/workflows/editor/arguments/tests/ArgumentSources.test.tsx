// @vitest-environment happy-dom
import { act, fireEvent, screen } from '@testing-library/react'
import { useState } from 'react'
import { beforeEach, expect, test } from 'vitest'
import { choose, click, field, renderPage } from '../../../../../../tests/unit/render'
import { answer } from '../../../../../../tests/unit/server'
import type { Draft } from '../../../../../ui/graph/graphDraft'
import { ArgumentSources } from '../ArgumentSources'

const DRAFT: Draft = {
  start: 'lookup',
  nodes: [
    { id: 'lookup', task_id: 't1' },
    { id: 'mail', task_id: 't2' },
  ],
  edges: [{ source: 'lookup', target: 'mail', on: 'success' }],
} as Draft
const MAIL = [
  { type: 'input', label: 'To' },
  { type: 'fixed', label: 'Mode', value: 'fast' },
  { type: 'input', label: 'Text' },
]

beforeEach(() => {
  answer('GET /task/t1', { id: 't1', task_arguments: [{ type: 'input', label: 'Who' }] })
  answer('GET /task/t2', { id: 't2', task_arguments: MAIL })
  answer('GET /workflows/w1/job', [{ id: 'r1' }])
  answer('GET /workflows/w1/job/r1/steps', [{ node_id: 'lookup', job_id: 'j1' }])
  answer('GET /job/j1', {
    id: 'j1',
    output: [{ user: 'ada' }, 'second'],
    task: { task_arguments: [{ type: 'input', label: 'Who' }] },
    task_arguments_values: ['max'],
  })
})

/** Shows the arguments of a step and returns what the editor would save. */
async function open(step = 'mail', draft = DRAFT) {
  let current = draft
  function Page() {
    const [value, setValue] = useState(draft)
    current = value
    const node = value.nodes.find(({ id }) => id === step)!
    return <ArgumentSources workflowId="w1" node={node} draft={value} onChange={setValue} />
  }
  await renderPage(<Page />)
  await screen.findAllByText('Arguments')
  return () => current.nodes.find(({ id }) => id === step)!.arguments
}

const badge = (text: string) => screen.findByText(text, { selector: '.flow-chip *' })

/** Drags a value of the last run to the field of an argument. */
async function drag(from: string, label: string) {
  const carried = new Map<string, string>()
  const dataTransfer = {
    setData: (type: string, data: string) => carried.set(type, data),
    getData: (type: string) => carried.get(type) ?? '',
  }
  const chip = (await badge(from)).closest('.flow-chip')!
  fireEvent.dragStart(chip, { dataTransfer })
  await act(async () => {
    fireEvent.drop(field(label).closest('.flow-source')!, { dataTransfer })
  })
}

test('the first step gets the arguments of the run and offers no choice', async () => {
  await open('lookup')
  expect(await screen.findByText('This step gets the arguments of the run.')).toBeTruthy()
  expect(screen.queryByLabelText('Who')).toBeNull()
})

test('arguments with a fixed value of the task are not offered', async () => {
  await open()
  expect(field('To')).toBeTruthy()
  expect(screen.queryByLabelText('Mode')).toBeNull()
})

test('a chosen value replaces one argument; the others stay in order', async () => {
  const saved = await open()
  await badge('lookup › Output 1 › user')
  await choose('To', 'lookup › Output 1 › user: ada')
  expect(saved()).toEqual([
    { node: 'lookup', index: 0, keys: ['user'] },
    { node: 'lookup', index: 1 },
    { node: 'lookup', index: 2 },
  ])
  await click('Use the output of the step before')
  expect(saved()).toEqual([])
})

test('a value is dragged to an argument', async () => {
  const saved = await open()
  await drag('lookup › Argument Who', 'Text')
  expect(saved()![2]).toEqual({ node: 'lookup', index: 0, part: 'input' })
})

test('a value that is dragged to a text becomes a part of it, with a preview', async () => {
  const saved = await open()
  await choose('Text', 'Template')
  fireEvent.change(field('Template of Text'), { target: { value: 'Hello ' } })
  await drag('lookup › Output 1 › user', 'Text')
  expect(saved()![2]).toEqual({ template: 'Hello {{lookup.output[0].user}}' })
  expect(screen.getByRole('status').textContent).toBe('With the last run: Hello ada')
})

test('a fixed value is entered as text', async () => {
  const saved = await open()
  await choose('To', 'Fixed value')
  fireEvent.change(field('Fixed value of To'), { target: { value: 'ops@acme.test' } })
  expect(saved()![0]).toEqual({ value: 'ops@acme.test' })
})

test('a member that is not offered is typed, and applied when the field is left', async () => {
  const saved = await open()
  await badge('lookup › Output 2')
  await choose('To', 'lookup › Output 2: second')
  // The other arguments follow in order, each with its own field.
  const member = screen.getAllByLabelText('Field')[0]!
  fireEvent.change(member, { target: { value: 'user..email' } })
  expect(saved()![0]).toEqual({ node: 'lookup', index: 1 })
  await act(async () => void fireEvent.blur(member))
  expect(saved()![0]).toEqual({ node: 'lookup', index: 1, keys: ['user', 'email'] })
})

test('a step that can be reached again in a loop may choose its values', async () => {
  const edges = [...DRAFT.edges, { source: 'mail', target: 'lookup', on: 'failure' }]
  await open('lookup', { ...DRAFT, edges } as Draft)
  expect(field('Who')).toBeTruthy()
})
