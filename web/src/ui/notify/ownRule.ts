import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ok, type Shape } from '../../api/client'
import { rulesQuery } from '../../api/queries/notifications'
import { useHasLevel } from '../../app/session'

type Rule = Shape<'RuleRecord'>

/** The channels that get the alerts of one monitor or task, besides those of general rules. */
export interface OwnChannels {
  ids: string[]
  set: (ids: string[]) => void
  isDirty: boolean
  /** Writes the rule of this object; call it when the object itself is saved. */
  save: (objectId: string, name: string) => Promise<void>
}

/** The rule that names this object and filters nothing else. */
export function ruleOf(rules: Rule[], objectId: string | undefined): Rule | undefined {
  return rules.find(
    ({ objects, kinds, states, tags }) =>
      objects.length === 1 &&
      objects[0] === objectId &&
      !kinds.length &&
      !states.length &&
      !tags.length,
  )
}

/** The choice of a form; it is a rule of its own, so that the list of rules shows it too. */
export function useOwnChannels(objectId?: string): OwnChannels {
  const client = useQueryClient()
  const isAdmin = useHasLevel('admin')
  const { data: rules = [] } = useQuery({ ...rulesQuery, enabled: isAdmin })
  const [choice, setChoice] = useState<string[] | null>(null)
  const rule = ruleOf(rules, objectId)
  const stored = rule?.enable ? rule.channels : []
  const isDirty = choice !== null && choice.toSorted().join() !== stored.toSorted().join()
  return {
    ids: choice ?? stored,
    set: setChoice,
    isDirty,
    save: async (id, name) => {
      if (!isDirty) return
      await writeRule(rule, id, name, choice)
      await client.invalidateQueries({ queryKey: rulesQuery.queryKey })
      setChoice(null)
    },
  }
}

async function writeRule(
  rule: Rule | undefined,
  objectId: string,
  name: string,
  channels: string[],
): Promise<void> {
  const path = { id: rule?.id ?? '' }
  if (rule && !channels.length) await ok(api.DELETE('/notify/rule/{id}', { params: { path } }))
  else if (rule)
    await ok(api.PATCH('/notify/rule/{id}', { params: { path }, body: { channels, enable: true } }))
  else if (channels.length)
    await ok(api.POST('/notify/rule', { body: { name, channels, objects: [objectId] } }))
}
