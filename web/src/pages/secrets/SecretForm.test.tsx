// @vitest-environment happy-dom
import { screen, waitFor } from '@testing-library/react'
import { beforeEach, expect, test, vi } from 'vitest'
import { enter, renderPage, submit } from '../../../tests/unit/render'
import { answer, answerNames, refusal, requestsTo } from '../../../tests/unit/server'
import { SecretForm } from './SecretForm'

const PUT = 'PUT /secret/KEY'
const OLD = { name: 'KEY', version: 4, secret: true, task_id: null, description: '' }

beforeEach(() => answerNames('task', []))

test('a new secret never replaces one with the same name', async () => {
  answer(PUT, refusal(412, 'The secret was changed in the meantime; list it again.'))
  const onClose = vi.fn()
  await renderPage(<SecretForm onClose={onClose} />)
  enter('Name', 'KEY')
  enter('Value', 'hush-4711')
  await submit('Create')
  expect(await screen.findByText(/There is already a secret with this name/)).toBeTruthy()
  expect(requestsTo(PUT)[0]!.headers.get('if-match')).toBe('0')
  expect(onClose).not.toHaveBeenCalled()
})

test('a change is sent for the version that was read', async () => {
  answer(PUT, { ...OLD, version: 5 })
  const onClose = vi.fn()
  await renderPage(<SecretForm old={OLD as never} onClose={onClose} />)
  enter('Value', 'hush-4711')
  await submit('Save')
  await waitFor(() => expect(onClose).toHaveBeenCalled())
  expect(requestsTo(PUT)[0]!.headers.get('if-match')).toBe('4')
})
