import type { Shape } from '../../api/client'
import { hasLevel } from '../../app/permissions'
import { tagText } from '../run/target'

export type AclObject = 'task' | 'workflow' | 'indicator' | 'monitor'

export interface Viewer {
  id: string
  name: string
  email: string
  mayRun: boolean
  why: { kind: 'level' | 'name' | 'tag' | 'open'; word: string }
}

type Member = Shape<'MemberRecord'>

/**
 * Who sees a record with this ACL, and for which reason. The server's rules (access.md), for
 * display.
 */
export function viewersOf(object: AclObject, acl: string[], members: Member[]): Viewer[] {
  const isRun = object === 'task' || object === 'workflow'
  const entries = new Set(acl.map((entry) => entry.toLowerCase()))
  return members
    .filter((member) => !member.disabled && !member.invited)
    .flatMap((member): Viewer[] => {
      const why = reason(member, object, entries)
      if (!why) return []
      const isNamed = why.kind !== 'level' ? why.kind !== 'open' : !!naming(member, entries)
      const mayRun =
        isRun &&
        (hasLevel(member.credential, 'admin') || (isNamed && hasLevel(member.credential, 'user')))
      const { user } = member
      return [{ id: member.id, name: user.name || user.username, email: user.email, mayRun, why }]
    })
}

function reason(member: Member, object: AclObject, entries: Set<string>): Viewer['why'] | null {
  if (hasLevel(member.credential, 'manager')) return { kind: 'level', word: member.credential }
  if (object === 'monitor' && entries.size === 0) return { kind: 'open', word: '' }
  return naming(member, entries)
}

function naming({ user, tags }: Member, entries: Set<string>): Viewer['why'] | null {
  if (entries.has(user.email.toLowerCase()) || entries.has(user.username.toLowerCase()))
    return { kind: 'name', word: '' }
  const tag = tags.map(tagText).find((text) => entries.has(text.toLowerCase()))
  return tag ? { kind: 'tag', word: tag } : null
}
