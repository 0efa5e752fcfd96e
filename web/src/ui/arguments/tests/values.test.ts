import { describe, expect, it } from 'vitest'
import { parts, toDateTime } from '../DateField'
import { choicesIn } from '../RemoteField'
import { type Argument, alignValues, faultsOf, firstValues, toRemember, toShow } from '../values'

const argument = (more: Partial<Argument>): Argument => ({
  type: 'input',
  label: '',
  id: null,
  order: 0,
  value: null,
  help: '',
  readonly: false,
  required: true,
  multiple: false,
  options: [],
  endpoint_url: '',
  id_attribute: '',
  text_attribute: '',
  masked: false,
  charsmin: null,
  charsmax: null,
  pattern: '',
  ...more,
})

describe('the values of a form', () => {
  it('begin with the values of the last run, if they still fit', () => {
    const definitions = [
      argument({}),
      argument({ type: 'select', options: [{ id: 'a', label: '', order: 0 }], value: 'a' }),
      argument({ type: 'fixed', value: 'x' }),
      argument({ type: 'boolean', value: 'true' }),
    ]
    expect(firstValues(definitions, ['old', 'gone', 'y', false])).toEqual(['old', 'a', 'x', false])
    expect(firstValues(definitions)).toEqual(['', 'a', 'x', true])
  })

  it('never copy or suggest hidden values', () => {
    const hidden = [argument({ masked: true, value: '***' })]
    expect(firstValues(hidden, ['p4ss'])).toEqual([''])
    expect(toRemember(hidden, ['p4ss'])).toEqual([''])
    expect(toShow(hidden, ['p4ss'])).toEqual(['***'])
  })

  it('are checked by kind, each fault at its own field', () => {
    const definitions = [
      argument({}),
      argument({ charsmin: 3 }),
      argument({ type: 'email' }),
      argument({ type: 'json' }),
      argument({ type: 'regexp', pattern: '^a+$' }),
      argument({ required: false }),
    ]
    const faults = faultsOf(definitions, ['', '🙂a', 'nobody', '{', 'b', ''])
    expect(Object.keys(faults)).toEqual([0, 1, 2, 3, 4].map((n) => `task_arguments[${n}]`))
    expect(faultsOf(definitions, ['x', 'abc', 'a@b', '{}', 'aa', ''])).toEqual({})
  })
})

it('an array without the fixed ones is spread over all', () => {
  const definitions = [argument({ type: 'fixed', value: 'f' }), argument({}), argument({})]
  expect(alignValues(definitions, ['a', 'b'])).toEqual(['f', 'a', 'b'])
  expect(alignValues(definitions, ['f', 'a', 'b'])).toEqual(['f', 'a', 'b'])
})

it('a date without a time is a day, with one an instant', () => {
  expect(toDateTime('2026-01-31', '')).toBe('2026-01-31')
  const instant = toDateTime('2026-01-31', '08:30')
  expect(instant).toMatch(/Z$/)
  expect(parts(instant)).toEqual({ day: '2026-01-31', clock: '08:30' })
})

it('choices are read by their attributes, each once', () => {
  const rows = [{ code: 7, title: 'Seven' }, { code: 7, title: 'Again' }, 'plain', null]
  expect(choicesIn(rows, { id_attribute: 'code', text_attribute: 'title' })).toEqual([
    { value: '7', label: 'Seven' },
    { value: 'plain', label: 'plain' },
  ])
})
