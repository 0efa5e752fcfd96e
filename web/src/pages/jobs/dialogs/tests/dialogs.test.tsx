// @vitest-environment happy-dom
import { fireEvent, screen, waitFor } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import {
  click,
  enter,
  field,
  renderPage,
  submit,
  watchToasts,
} from '../../../../../tests/unit/render'
import { answer, refusal, requestsTo } from '../../../../../tests/unit/server'
import type { Job } from '../../../../api/queries/job'
import { newArgument } from '../../../tasks/draft/templates'
import { AnswerDialog } from '../AnswerDialog'
import { ResolveDialog } from '../ResolveDialog'

const JOB = {
  id: 'j1',
  name: 'Backup',
  _type: 'ScriptJob',
  task: {
    task_arguments: [
      newArgument('input', { label: 'Host' }),
      newArgument('email', { label: 'Report to', required: false }),
    ],
  },
  task_arguments_values: ['web-1', ''],
} as unknown as Job

const INPUT = 'PUT /job/j1/input'
const RESOLVE = 'PUT /job/j1/resolve'

test('values that do not fit are not sent', async () => {
  await renderPage(<AnswerDialog job={JOB} onClose={() => {}} />)
  enter('Host', '')
  enter('Report to', 'nobody')
  await submit('Send answer')
  expect(await screen.findByText('Required.')).toBeTruthy()
  expect(screen.getByText('Not an e-mail address.')).toBeTruthy()
  expect(requestsTo(INPUT)).toEqual([])
})

test('Ctrl+Enter sends the values', async () => {
  answer(INPUT, { ...JOB, lifecycle: 'ready' })
  await renderPage(<AnswerDialog job={JOB} onClose={() => {}} />)
  fireEvent.keyDown(field('Host'), { key: 'Enter' })
  expect(requestsTo(INPUT)).toEqual([])
  fireEvent.keyDown(field('Host'), { key: 'Enter', ctrlKey: true })
  await waitFor(() => expect(requestsTo(INPUT)).toHaveLength(1))
})

test('a value that the server refuses is marked', async () => {
  const errors = [{ field: 'task_arguments[0]', message: 'Unknown host.' }]
  answer(INPUT, () => refusal(400, 'Invalid.', errors))
  await renderPage(<AnswerDialog job={JOB} onClose={() => {}} />)
  await submit('Send answer')
  expect(await screen.findByText('Unknown host.')).toBeTruthy()
})

test('a job that waits for input gets it, and the dialog closes', async () => {
  answer(INPUT, { ...JOB, lifecycle: 'ready' })
  const onClose = vi.fn()
  const { client } = await renderPage(<AnswerDialog job={JOB} onClose={onClose} />)
  enter('Host', 'web-3')
  await submit('Send answer')
  await waitFor(() => expect(onClose).toHaveBeenCalledOnce())
  expect(requestsTo(INPUT)[0]!.body).toEqual({ args: ['web-3', ''] })
  expect(client.getQueryData(['job', 'j1'])).toMatchObject({ lifecycle: 'ready' })
})

test('an answer that is refused leaves the dialog open', async () => {
  answer(INPUT, () => refusal(409, 'Someone else answered.'))
  const toasts = watchToasts()
  const onClose = vi.fn()
  await renderPage(<AnswerDialog job={JOB} onClose={onClose} />)
  await submit('Send answer')
  await waitFor(() => expect(toasts()).toEqual(['Someone else answered.']))
  expect(onClose).not.toHaveBeenCalled()
})

test('the outcome of a lost job is set by a person, with a note', async () => {
  answer(RESOLVE, { ...JOB, state: 'failure' })
  const onClose = vi.fn()
  const { client } = await renderPage(<ResolveDialog job={JOB} onClose={onClose} />)
  await click('Failed', 'radio')
  enter('Note', 'The disk was full.')
  await submit('Set result')
  await waitFor(() => expect(onClose).toHaveBeenCalledOnce())
  expect(requestsTo(RESOLVE)[0]!.body).toEqual({ outcome: 'failure', note: 'The disk was full.' })
  expect(client.getQueryData(['job', 'j1'])).toMatchObject({ state: 'failure' })
})

test('cancelling sets no outcome', async () => {
  const onClose = vi.fn()
  await renderPage(<ResolveDialog job={JOB} onClose={onClose} />)
  await click('Cancel')
  expect(onClose).toHaveBeenCalledOnce()
  expect(requestsTo(RESOLVE)).toEqual([])
})
