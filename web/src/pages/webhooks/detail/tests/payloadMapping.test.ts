// @vitest-environment happy-dom
import { expect, test } from 'vitest'
import { newArgument } from '../../../tasks/draft/templates'
import { mapPayload, payloadElements } from '../payloadMapping'

test('element n is argument n, fixed ones counted', () => {
  const definitions = [
    newArgument('input'),
    newArgument('fixed', { value: 'f' }),
    newArgument('input'),
  ]
  const places = mapPayload(definitions, ['a', 'ignored'])
  expect(places.map((source) => source.kind)).toEqual(['given', 'fixed', 'missing'])
  expect(payloadElements('{"a":1}')).toEqual({ elements: [{ a: 1 }], isArray: false })
  expect(payloadElements('[1,')).toBeNull()
})
