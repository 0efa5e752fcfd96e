// @vitest-environment happy-dom
import { fireEvent, screen, waitFor } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { renderPage } from '../../../../tests/unit/render'
import { answer, requestsTo } from '../../../../tests/unit/server'
import { MemberRow } from '../MemberRow'

const MEMBER = {
  id: 'm1',
  user_id: 'u1',
  credential: 'user',
  disabled: false,
  invited: false,
  second_factor: true,
  tags: [],
  user: { id: 'u1', name: 'Grace', username: 'grace', email: 'grace@example.org' },
}

const ROUTE = 'DELETE /api/member/m1/second-factor'

test('a second factor is removed only after a question that says what it means', async () => {
  answer(ROUTE, {})
  await renderPage(<MemberRow member={MEMBER as never} onLink={vi.fn()} />)
  fireEvent.click(screen.getByRole('button', { name: 'Actions: Grace' }))
  fireEvent.click(await screen.findByRole('menuitem', { name: 'Remove the second factor' }))
  await screen.findByText(/signs in with the password alone/)
  expect(requestsTo(ROUTE)).toEqual([])
  fireEvent.click(screen.getByRole('button', { name: 'Remove the second factor' }))
  await waitFor(() => expect(requestsTo(ROUTE)).toHaveLength(1))
})
