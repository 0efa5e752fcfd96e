// @vitest-environment happy-dom
import { screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { renderPage } from '../../../../../tests/unit/render'
import { AttemptSelect } from '../AttemptSelect'

test('an attempt is named by its number and, in words, its state', async () => {
  const attempts = ['returned', 'ended', 'live'].map((state, n) => ({ number: n + 1, state }))
  await renderPage(<AttemptSelect job={{ attempts } as never} onAttempt={() => {}} />)
  const options = (await screen.findAllByRole('option')).map((option) => option.textContent)
  expect(options.slice(1)).toEqual(['Attempt 2 · ended', 'Attempt 1 · returned to the queue'])
})
