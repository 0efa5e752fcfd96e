// @vitest-environment happy-dom
import { fireEvent, screen } from '@testing-library/react'
import { useState } from 'react'
import { expect, test } from 'vitest'
import { renderInConsole } from '../../../../tests/unit/render'
import { SecretArea } from '../SecretArea'

function Key() {
  const [value, setValue] = useState('')
  return (
    <SecretArea
      label="Value"
      value={value}
      onChange={(event) => setValue(event.currentTarget.value)}
    />
  )
}

test('a private key keeps its line breaks', () => {
  renderInConsole(<Key />)
  const area = screen.getByLabelText<HTMLTextAreaElement>('Value')
  fireEvent.change(area, { target: { value: 'BEGIN\nabc\nEND\n' } })
  expect(area.value).toBe('BEGIN\nabc\nEND\n')
})

test('the value is hidden until it is revealed', () => {
  renderInConsole(<Key />)
  const area = screen.getByLabelText('Value')
  expect(area.classList).toContain('secret-hidden')
  fireEvent.click(screen.getByRole('button', { name: 'Show' }))
  expect(area.classList).not.toContain('secret-hidden')
  fireEvent.click(screen.getByRole('button', { name: 'Hide' }))
  expect(area.classList).toContain('secret-hidden')
})
