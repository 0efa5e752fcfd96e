import { expect, test } from 'vitest'
import { type Argument, type ArgumentKind, KINDS } from '../../kinds'
import { faultsOf } from '../../values'
import { samplePattern } from '../samplePattern'
import { sampleValues } from '../samples'

const argument = (more: Partial<Argument>): Argument =>
  ({
    type: 'input',
    label: 'x',
    value: null,
    required: true,
    multiple: false,
    readonly: false,
    masked: false,
    options: [],
    pattern: '',
    charsmin: null,
    charsmax: null,
    ...more,
  }) as Argument

const CHOICES = [
  { id: 'live', label: 'Live', order: 0 },
  { id: 'test', label: 'Test', order: 1 },
]

/** What a definition of the type needs before it can have a value. */
const NEEDS: Partial<Record<ArgumentKind, Partial<Argument>>> = {
  select: { options: CHOICES },
  regexp: { pattern: '^v\\d+\\.[0-9]{2}(?:-(rc|beta))?$' },
  fixed: { value: 'own' },
}

const EXAMPLES: [string, Partial<Argument>][] = [
  ...(Object.keys(KINDS) as ArgumentKind[]).map((type): [string, Partial<Argument>] => [
    type,
    { type, ...NEEDS[type] },
  ]),
  ['long text', { type: 'textarea', charsmin: 12 }],
  ['short text', { type: 'input', charsmax: 3 }],
  ['several choices', { type: 'select', options: CHOICES, multiple: true }],
  ['several remote choices', { type: 'remote-options', multiple: true }],
  ['masked text', { type: 'input', masked: true, value: '***' }],
]

test.each(EXAMPLES)('an example value of the kind %s is valid', (_, more) => {
  const definitions = [argument(more)]
  const values = sampleValues(definitions)
  expect(faultsOf(definitions, values)).toEqual({})
  expect(values[0]).not.toBe('')
})

test('the default of the definition comes first, and a fixed value stays', () => {
  const definitions = [
    argument({ type: 'select', options: CHOICES, value: 'test' }),
    argument({ type: 'fixed', value: 'own' }),
  ]
  expect(sampleValues(definitions)).toEqual(['test', 'own'])
})

test.each([
  '[A-Z]{3}-\\d{4}',
  'v?[0-9]+(\\.[0-9]+){2}',
  '(?:yes|no)',
  '[^/]+/[\\w.-]+',
  '\\+49[0-9]{5,}',
  '[€]x*',
])('a text for the pattern %s matches it', (pattern) => {
  expect(samplePattern(pattern)).toMatch(new RegExp(`^(?:${pattern})$`, 'u'))
})

test('a pattern that cannot be read gives no text', () => {
  expect(samplePattern('(?=a)b')).toBeNull()
  expect(samplePattern('(a')).toBeNull()
})
