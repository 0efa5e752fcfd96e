import type { Shape } from '../../api/client'
import { useText } from './text'

type Origin = Pick<Shape<'JobRecord'>, 'origin' | 'user' | 'started_by'>

const PAGES: Record<string, string> = {
  webhook: '/webhooks',
  schedule: '/schedules',
  task: '/tasks',
  workflow: '/workflows',
  monitor: '/monitors',
  indicator: '/indicators',
}

/** What started a job: "webhook crm-export", "schedule nightly", "token ci", "Ada". */
export function originText({ origin, user, started_by }: Origin): string {
  const t = useText.now()
  if (started_by) {
    const kind = t.kinds[started_by.kind] ?? started_by.kind
    return started_by.name ? `${kind} ${started_by.name}` : kind
  }
  const person = user.username || user.email
  const word = t.origins[origin] ?? origin
  if (origin === 'user') return person || word
  return person ? `${word} · ${person}` : word
}

/** The page of the object that started it; null: it has none. */
export function originPage({ started_by }: Origin): string | null {
  const page = started_by && PAGES[started_by.kind]
  return page ? `${page}/${started_by.id}` : null
}
