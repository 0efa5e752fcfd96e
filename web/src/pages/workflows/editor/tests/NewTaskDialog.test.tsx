// @vitest-environment happy-dom
import { EditorView } from '@codemirror/view'
import { act, fireEvent, screen, waitFor } from '@testing-library/react'
import { beforeEach, expect, test, vi } from 'vitest'
import { button, choose, enter, field, renderPage, submit } from '../../../../../tests/unit/render'
import { answer, answerNames, refusal, requestsTo } from '../../../../../tests/unit/server'
import { NewTaskDialog } from '../NewTaskDialog'

const CREATE = 'POST /task'

beforeEach(() => {
  answerNames('host', [
    { id: 'h1', name: 'web-1' },
    { id: 'h2', name: 'web-2' },
  ])
  answer(CREATE, { id: 't9', name: 'Report' })
})

async function open() {
  const onCreated = vi.fn()
  await renderPage(<NewTaskDialog onClose={() => {}} onCreated={onCreated} />)
  await screen.findByRole('dialog')
  return onCreated
}
const body = () => requestsTo(CREATE)[0]!.body as { script: { filename: string; source: string } }
const script = () => EditorView.findFromDOM(document.querySelector('.cm-editor')!)!
const language = (name: string) => fireEvent.click(screen.getByLabelText(name))

test('a task needs a name and a host, and becomes a step', async () => {
  const onCreated = await open()
  enter('Name', ' Report ')
  expect(button('Create and add step').disabled).toBe(true)
  await choose('Host', 'web-2')
  await submit('Create and add step')
  await waitFor(() => expect(onCreated).toHaveBeenCalledWith({ id: 't9', name: 'Report' }))
  expect(body()).toMatchObject({ type: 'script', name: 'Report', host_id: 'h2' })
  expect(body().script.filename).toBe('script.sh')
})

test('the only host need not be chosen', async () => {
  answerNames('host', [{ id: 'h1', name: 'web-1' }])
  await open()
  await waitFor(() => expect(field('Host').value).toBe('web-1'))
})

test('another language replaces the example, but not what was written', async () => {
  await open()
  await waitFor(() => expect(script().state.doc.toString()).toContain('#!/bin/bash'))
  language('Python')
  await waitFor(() => expect(script().state.doc.toString()).toContain('python3'))
  await act(async () => script().dispatch({ changes: { from: 0, insert: '# mine\n' } }))
  await act(async () => language('Bash'))
  expect(script().state.doc.toString()).toMatch(/^# mine\n#!.*python3/)
})

test('a refusal is shown at its field, and the dialog stays open', async () => {
  answer(CREATE, refusal(400, 'Invalid.', [{ field: 'name', message: 'Name is used.' }]))
  const onCreated = await open()
  enter('Name', 'Report')
  await choose('Host', 'web-1')
  await submit('Create and add step')
  expect(await screen.findByText('Name is used.')).toBeTruthy()
  expect(onCreated).not.toHaveBeenCalled()
})
