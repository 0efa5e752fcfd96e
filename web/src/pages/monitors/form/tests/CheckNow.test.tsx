// @vitest-environment happy-dom
import { screen, waitFor } from '@testing-library/react'
import { beforeEach, expect, test } from 'vitest'
import { button, click, renderPage } from '../../../../../tests/unit/render'
import { answer, refusal, requestsTo } from '../../../../../tests/unit/server'
import { CheckNow } from '../CheckNow'
import { newValues } from '../kinds'

const START = 'POST /monitor/trial'
const READ = 'GET /monitor/trial/x1'
const VALUES = { ...newValues('tcp'), name: 'Mail', target: 'mail.example', port: 25 }

beforeEach(() => {
  answer(START, { id: 'x1', state: 'waiting' })
})

async function check(...results: object[]) {
  const remaining = [...results]
  answer(READ, () => ({ id: 'x1', ...(remaining.length > 1 ? remaining.shift() : remaining[0]) }))
  await renderPage(<CheckNow kind="tcp" values={VALUES} />)
  await click('Check now')
}

test('the check has the values of the form, and nothing is created', async () => {
  await check({ state: 'normal' })
  await screen.findByText('The check succeeded')
  expect(requestsTo(START)[0]!.body).toMatchObject({
    type: 'tcp',
    target: 'mail.example',
    port: 25,
  })
  expect(requestsTo('POST /monitor')).toEqual([])
})

test('the result is read until there is one, with its figures', async () => {
  await check({ state: 'waiting' }, { state: 'normal', measured: { ms: 12.3456 } })
  expect(await screen.findByText('ms: 12.35', {}, { timeout: 3000 })).toBeTruthy()
  expect(requestsTo(READ)).toHaveLength(2)
})

test('a failed check shows the message of the agent', async () => {
  await check({ state: 'failure', message: 'Connection refused.' })
  expect(await screen.findByText('The check failed')).toBeTruthy()
  expect(screen.getByText('Connection refused.')).toBeTruthy()
})

test('an agent that does not report in time is no failed check', async () => {
  await check({ state: 'expired' })
  expect(await screen.findByText('The agent did not report a result in time')).toBeTruthy()
  expect(screen.queryByText('The check failed')).toBeNull()
})

test('a refused check shows the reason, and can be tried again', async () => {
  answer(START, refusal(400, 'The port is missing.'))
  await renderPage(<CheckNow kind="tcp" values={VALUES} />)
  await click('Check now')
  expect(await screen.findByText('The port is missing.')).toBeTruthy()
  await waitFor(() => expect(button('Check now').getAttribute('data-loading')).toBeNull())
})
