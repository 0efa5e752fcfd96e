import { useQueries } from '@tanstack/react-query'
import type { Webhook } from '../../api/queries/automation/webhook'
import { sampleValues } from '../../ui/arguments/samples/samples'
import type { Argument } from '../../ui/arguments/values'
import { runnableQuery } from '../../ui/run/target'
import { useTargets } from '../../ui/run/targetList'
import { attachedTargets } from './attachedTargets'

/** A payload that everything attached accepts, as JSON; undefined while definitions are loading.
 * All of them get the same elements, so the one with the most arguments decides. */
export function useSamplePayload(hook: Webhook): string | undefined {
  const targets = attachedTargets(hook, useTargets())
  return useQueries({
    queries: targets.map(runnableQuery),
    combine: (answers) =>
      answers.some((answer) => answer.isPending)
        ? undefined
        : samplePayload(answers.map((answer) => answer.data?.arguments ?? [])),
  })
}

export function samplePayload(definitions: Argument[][]): string {
  const longest = definitions.reduce(
    (list, other) => (other.length > list.length ? other : list),
    [],
  )
  return JSON.stringify(sampleValues(longest))
}
