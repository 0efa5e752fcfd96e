import type { Shape } from '../../../api/client'
import type { Indicator } from '../../../api/queries/monitoring/indicator'

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

export const NEW_VALUES: Values = {
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

/** A chart to begin with, as its source is written. */
const SAMPLE = {
  kind: 'line',
  unit: '',
  labels: ['Mon', 'Tue', 'Wed'],
  series: [{ name: 'shop', values: [3, 5, 4] }],
}
const FIRST: Record<string, string | number> = {
  counter: 1,
  progress: 0,
  chart: JSON.stringify(SAMPLE, null, 2),
}

/** Whether the value of a file is the id of a stored one. */
export function isFileId(value: unknown): boolean {
  return typeof value === 'string' && /^[0-9a-f]{24}$/.test(value)
}

/** Another kind begins with a value of its own. */
export function ofKind(values: Values, type: string): Values {
  return { ...values, type, value: FIRST[type] ?? '' }
}

export function valuesOf(indicator: Indicator): Values {
  const { value } = indicator
  return {
    ...indicator,
    value: typeof value === 'object' ? JSON.stringify(value, null, 2) : value,
    ttl: indicator.ttl === null ? '' : indicator.ttl / 60_000,
  }
}

/** `before`: the initial values of the form. An unchanged value is not sent: its source may have
 * pushed another one in the meantime. */
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
