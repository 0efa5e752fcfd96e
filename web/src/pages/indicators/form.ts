import type { Shape } from '../../api/client'
import type { Indicator } from '../../api/queries/indicator'

export interface Values {
  title: string
  type: string
  value: string | number
  state: string
  severity: string
  description: string
  tags: string[]
  order: number | string
  /** Minutes; '' for never. */
  ttl: number | string
  sticky: boolean
  read_only: boolean
  enable: boolean
  alerts: boolean
}

export const FRESH: Values = {
  title: '',
  type: 'text',
  value: '',
  state: 'normal',
  severity: 'HIGH',
  description: '',
  tags: [],
  order: 0,
  ttl: '',
  sticky: false,
  read_only: false,
  enable: true,
  alerts: true,
}

const FIRST: Record<string, string | number> = { text: '', counter: 1, progress: 0 }

/** Another kind begins with a value of its own. */
export function ofKind(values: Values, type: string): Values {
  return { ...values, type, value: FIRST[type] ?? '' }
}

export function valuesOf(one: Indicator): Values {
  return { ...one, ttl: one.ttl === null ? '' : one.ttl / 60_000 }
}

/** `before`: what the form began with. A value that nobody touched is not sent: its source may
 * have pushed another one meanwhile. */
export function bodyOf(values: Values, before?: Values): Shape<'IndicatorBody'> {
  const { title, severity, description, tags, sticky, read_only, enable, alerts } = values
  return {
    title,
    severity,
    description,
    tags,
    sticky,
    read_only,
    enable,
    alerts,
    order: Number(values.order) || 0,
    ttl: values.ttl === '' ? null : Math.round(Number(values.ttl) * 60_000),
    ...(before ? {} : { type: values.type }),
    ...(before?.value === values.value ? {} : { value: values.value }),
    ...(before?.state === values.state ? {} : { state: values.state }),
  }
}
