import type { Shape } from '../../api/client'
import { reaches } from '../../app/permissions'
import { tagText } from '../run/target'

export type Guarded = 'task' | 'workflow' | 'indicator' | 'monitor'

export interface Seer {
  id: string
  name: string
  email: string
  mayRun: boolean
  why: { kind: 'level' | 'name' | 'tag' | 'open'; word: string }
}

type Member = Shape<'MemberRecord'>

/** Who sees a record with this ACL, and by what right. The server's rules (access.md), for reading. */
export function seers(object: Guarded, acl: string[], members: Member[]): Seer[] {
  const isRun = object === 'task' || object === 'workflow'
  const entries = new Set(acl.map((entry) => entry.toLowerCase()))
  return members
    .filter((one) => !one.disabled && !one.invited)
    .flatMap((one): Seer[] => {
      const why = reason(one, object, entries)
      if (!why) return []
      const isNamed = why.kind !== 'level' ? why.kind !== 'open' : !!naming(one, entries)
      const mayRun =
        isRun && (reaches(one.credential, 'admin') || (isNamed && reaches(one.credential, 'user')))
      const { user } = one
      return [{ id: one.id, name: user.name || user.username, email: user.email, mayRun, why }]
    })
}

function reason(one: Member, object: Guarded, entries: Set<string>): Seer['why'] | null {
  if (reaches(one.credential, 'manager')) return { kind: 'level', word: one.credential }
  if (object === 'monitor' && entries.size === 0) return { kind: 'open', word: '' }
  return naming(one, entries)
}

function naming({ user, tags }: Member, entries: Set<string>): Seer['why'] | null {
  if (entries.has(user.email.toLowerCase()) || entries.has(user.username.toLowerCase()))
    return { kind: 'name', word: '' }
  const tag = tags.map(tagText).find((text) => entries.has(text.toLowerCase()))
  return tag ? { kind: 'tag', word: tag } : null
}
