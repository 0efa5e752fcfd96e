// @vitest-environment happy-dom
import { fireEvent, screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { renderInConsole } from '../../../../../tests/unit/render'
import { PairsField } from '../PairsField'
import type { Pairs } from '../pairs'

const field = (value: Pairs, onChange = vi.fn(), sign: '=' | ':' = '=') => (
  <PairsField
    label="Environment"
    hint=""
    bad="Each line needs NAME=value."
    sign={sign}
    value={value}
    readOnly={false}
    onChange={onChange}
  />
)
const input = () => screen.getByLabelText<HTMLTextAreaElement>('Environment')
const type = (value: string) => fireEvent.change(input(), { target: { value } })

test('complete lines are reported as pairs', () => {
  const onChange = vi.fn()
  renderInConsole(field({ A: '1' }, onChange))
  expect(input().value).toBe('A=1')
  type('A=1\n\nB=x=y ')
  expect(onChange).toHaveBeenLastCalledWith({ A: '1', B: 'x=y ' })
})

test('a line without a sign is shown as an error and not reported', () => {
  const onChange = vi.fn()
  renderInConsole(field({ A: '1' }, onChange))
  type('A=1\nB')
  expect(onChange).not.toHaveBeenCalled()
  expect(screen.getByText('Each line needs NAME=value.')).toBeTruthy()
  type('A=1\nB=2')
  expect(screen.queryByText('Each line needs NAME=value.')).toBeNull()
})

test('spaces around the value of a header are dropped, those of a variable are kept', () => {
  const onChange = vi.fn()
  renderInConsole(field({}, onChange, ':'))
  type('Accept :  text/plain ')
  expect(onChange).toHaveBeenLastCalledWith({ Accept: 'text/plain' })
})

test('a version from the server replaces the text, but not a line that is half written', () => {
  const { rerender } = renderInConsole(field({ A: '1' }))
  rerender(field({ A: '2' }))
  expect(input().value).toBe('A=2')
  type('A=2\nB')
  rerender(field({ A: '3' }))
  expect(input().value).toBe('A=2\nB')
})
