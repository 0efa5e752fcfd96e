import { describe, expect, it } from 'vitest'
import { bodyOf as indicatorBody, NEW_VALUES, ofKind } from '../indicatorDraft'

describe('forms of indicators', () => {
  it('does not send an unchanged value', () => {
    const before = { ...ofKind(NEW_VALUES, 'counter'), title: 't', value: 5 }
    expect(indicatorBody({ ...before, title: 'u' }, before)).not.toHaveProperty('value')
    expect(indicatorBody({ ...before, value: 6 }, before)).toMatchObject({ value: 6 })
    expect(indicatorBody({ ...before, ttl: 2 }, before).ttl).toBe(120_000)
    expect(indicatorBody({ ...before, ttl: '' }, before).ttl).toBeNull()
  })
  it('resets the value when the kind changes', () => {
    const counter = { ...ofKind(NEW_VALUES, 'counter'), title: 't', value: 5 }
    const text = ofKind(counter, 'text')
    expect(text).toMatchObject({ title: 't', type: 'text' })
    expect(text.value).toBe('')
  })
})
