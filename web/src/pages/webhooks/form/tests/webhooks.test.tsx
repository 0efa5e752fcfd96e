// @vitest-environment happy-dom
import { act, screen, waitFor } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  choose,
  click,
  enter,
  openGroups,
  press,
  renderPage,
  submit,
} from '../../../../../tests/unit/render'
import { answer, answerNames, refusal, requestsTo } from '../../../../../tests/unit/server'
import type { Webhook } from '../../../../api/queries/automation/webhook'
import { newArgument } from '../../../tasks/draft/templates'
import { NewWebhookPage } from '../NewWebhookPage'
import { hookUrl, WebhookAddress } from '../WebhookAddress'

const CREATE = 'POST /webhook'
const HOOK = {
  id: 'k1',
  name: 'Push',
  enable: true,
  signature: 'none',
  tasks: ['t1'],
  workflows: [],
} as unknown as Webhook

beforeEach(() => {
  answerNames('task', [{ id: 't1', name: 'Build' }])
  answerNames('workflow', [{ id: 'w1', name: 'Release' }])
  answer('GET /task/t1', {
    name: 'Build',
    enable: true,
    acl: [],
    task_arguments: [newArgument('input', { label: 'Branch', value: 'main' })],
  })
  answer('GET /webhook/k1/credentials', { secret: 's3cret' })
  answer(CREATE, { ...HOOK, id: 'k9' })
})
afterEach(() => void vi.unstubAllGlobals())

test('a webhook runs the tasks and workflows that are attached to it', async () => {
  const { location } = await renderPage(<NewWebhookPage />)
  enter('Name', 'Push')
  await choose('What it runs', 'Build')
  await choose('What it runs', 'Release')
  await openGroups()
  await choose('Signature', 'GitHub (X-Hub-Signature-256)')
  await submit('Create')
  await waitFor(() => expect(location().pathname).toBe('/acme/webhooks/k9'))
  expect(requestsTo(CREATE)[0]!.body).toEqual({
    name: 'Push',
    enable: true,
    signature: 'github',
    tasks: ['t1'],
    workflows: ['w1'],
  })
})

test('Ctrl+Enter creates it, and a refusal is shown at its field', async () => {
  answer(CREATE, refusal(400, 'Invalid.', [{ field: 'name', message: 'In use.' }]))
  await renderPage(<NewWebhookPage />)
  enter('Name', 'Push')
  await act(async () => press('Enter', { ctrlKey: true }))
  expect(await screen.findByText('In use.')).toBeTruthy()
})

test('a reader below admin cannot create webhooks', async () => {
  await renderPage(<NewWebhookPage />, { level: 'manager' })
  expect(screen.getByText('Only admins can change webhooks.')).toBeTruthy()
})

test('the secret is part of the address, except when calls are signed', () => {
  expect(hookUrl(HOOK, 'abc')).toContain('/webhook/k1/trigger/secret/abc?')
  expect(hookUrl({ ...HOOK, signature: 'github' }, 'abc')).toContain('/webhook/k1/trigger/signed?')
})

test('the address hides its secret, and copying gives the real one', async () => {
  const writeText = vi.fn(async () => {})
  vi.stubGlobal('navigator', { ...navigator, clipboard: { writeText } })
  await renderPage(<WebhookAddress hook={HOOK} />)
  await screen.findByText(/\["main"\]/)
  expect(document.body.textContent).not.toContain('s3cret')
  await click('Copy: Address')
  await waitFor(() => expect(writeText).toHaveBeenCalledWith(hookUrl(HOOK, 's3cret')))
  await click('Show the secret key')
  await waitFor(() => expect(document.body.textContent).toContain('/secret/s3cret?'))
})

test('a service that chooses its own secret is named', async () => {
  await renderPage(<WebhookAddress hook={{ ...HOOK, signature: 'stripe' }} />)
  expect(screen.getByText(/Enter this address at Stripe/)).toBeTruthy()
})
