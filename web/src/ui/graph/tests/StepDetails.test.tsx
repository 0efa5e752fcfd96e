// @vitest-environment happy-dom
import { screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { renderPage } from '../../../../tests/unit/render'
import { answer } from '../../../../tests/unit/server'
import { StepDetails } from '../StepDetails'

test('a step says in words why it ended', async () => {
  const job = { id: 'j9', lifecycle: 'terminated', state: 'lost', output: [] }
  answer('GET /job/j9', { ...job, reason: 'host_rebooted' })
  const node = { id: 'build', task_id: 't1' } as never
  await renderPage(<StepDetails node={node} jobs={['j9']} hasRun onClose={() => {}} />)
  expect(await screen.findByText('The host rebooted during the run.')).toBeTruthy()
})
