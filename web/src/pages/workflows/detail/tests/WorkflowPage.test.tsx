// @vitest-environment happy-dom
import { act, screen, waitFor } from '@testing-library/react'
import { expect, test } from 'vitest'
import { click, renderPage } from '../../../../../tests/unit/render'
import { answer } from '../../../../../tests/unit/server'
import { WorkflowPage } from '../WorkflowPage'

test('the run dialog closes when the page of another workflow is opened', async () => {
  for (const [id, name] of [
    ['w1', 'Release'],
    ['w2', 'Rollback'],
  ]) {
    answer(`GET /workflows/${id}`, { id, name, enable: true, acl: [], graph: {} })
    answer(`GET /workflows/${id}/job`, [])
  }
  const page = { address: '/workflows/w1/jobs', path: 'workflows/$id/$tab' }
  const { client, router } = await renderPage(<WorkflowPage />, page)
  await click(/^Run/)
  await screen.findByText('Run Release')
  client.setQueryData(['workflow', 'w2'], { ...client.getQueryData(['workflow', 'w1']), id: 'w2' })
  await act(() => router.navigate({ to: '/acme/workflows/w2/jobs' } as never))
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
})
