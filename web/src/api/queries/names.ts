import { queryOptions } from '@tanstack/react-query'
import { api, ok, type Shape, untypedQuery } from '../client'
import { paceMs } from '../pace'

export type ObjectName = Shape<'ObjectName'>

/** Choices that a list shows at once; typing narrows them. */
export const MAX_CHOICES = 200

type NamedKind = 'task' | 'workflow' | 'host' | 'monitor' | 'indicator'

export function readNames(kind: NamedKind): Promise<ObjectName[]> {
  return ok(api.GET('/-/names', { params: { query: { kind } } }))
}

function namesQuery(kind: NamedKind) {
  return queryOptions({
    queryKey: [kind, 'names'],
    queryFn: () => readNames(kind),
    meta: { paceMs: (names?: ObjectName[]) => paceMs(names?.length, 15_000) },
  })
}

/** Every object's name, to choose from; `detail` is the host of a task or monitor. */
export const taskNamesQuery = namesQuery('task')
export const workflowNamesQuery = namesQuery('workflow')
export const hostNamesQuery = namesQuery('host')
export const monitorNamesQuery = namesQuery('monitor')
export const indicatorNamesQuery = namesQuery('indicator')

/** An option of a list; a monitor often has the name of its host. */
export function choiceOf({ id, name, detail }: ObjectName): { value: string; label: string } {
  return { value: id, label: detail && detail !== name ? `${name} · ${detail}` : name }
}

/** The tags of all objects of a kind, which changes of these objects change. */
export const tagNamesQuery = (object: 'task' | 'host') =>
  queryOptions({
    queryKey: ['tag', object],
    queryFn: async () => {
      const tags = await ok(api.GET('/tag', { params: { query: untypedQuery({ object }) } }))
      return tags.map(({ name }) => name)
    },
    meta: { after: [object], paceMs: (names?: string[]) => paceMs(names?.length, 15_000) },
  })
