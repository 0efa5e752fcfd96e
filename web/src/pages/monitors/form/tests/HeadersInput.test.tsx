// @vitest-environment happy-dom
import { fireEvent, screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { renderInConsole } from '../../../../../tests/unit/render'
import { HeadersInput } from '../HeadersInput'

const headers = (value: unknown, onChange = vi.fn()) => (
  <HeadersInput label="Headers" name="headers" value={value} onChange={onChange} />
)
const input = () => screen.getByLabelText<HTMLTextAreaElement>('Headers')

test('headers are read and written with one header per line', () => {
  const onChange = vi.fn()
  renderInConsole(headers({ Accept: 'text/plain', Host: 'a:1' }, onChange))
  expect(input().value).toBe('Accept: text/plain\nHost: a:1')
  fireEvent.change(input(), { target: { value: 'Host:b:2\n\n X-Empty' } })
  expect(onChange).toHaveBeenLastCalledWith({ Host: 'b:2', 'X-Empty': '' })
})

test('text with the same meaning stays as it was typed', () => {
  const { rerender } = renderInConsole(headers({}))
  fireEvent.change(input(), { target: { value: 'Accept:text/plain\n' } })
  rerender(headers({ Accept: 'text/plain' }))
  expect(input().value).toBe('Accept:text/plain\n')
})

test('headers of another version replace the text', () => {
  const { rerender } = renderInConsole(headers({ Accept: 'text/plain' }))
  rerender(headers({ Accept: 'text/html' }))
  expect(input().value).toBe('Accept: text/html')
  rerender(headers(null))
  expect(input().value).toBe('')
})
