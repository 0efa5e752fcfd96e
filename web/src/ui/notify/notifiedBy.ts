import type { Shape } from '../../api/client'
import type { FailureFilter } from '../../api/queries/notifications'

type Channel = Pick<Shape<'ChannelRecord'>, 'id' | 'name' | 'enable'>
type Rule = Pick<
  Shape<'RuleRecord'>,
  'enable' | 'channels' | 'kinds' | 'objects' | 'states' | 'tags' | 'severity'
>

/** A failure of one monitor or task, as rules see it. What is still to be created has no id. */
export type Failure = FailureFilter

const SEVERITIES = ['LOW', 'HIGH', 'CRITICAL']
const rank = (severity: string) => SEVERITIES.indexOf(severity.toUpperCase())

/**
 * The names of the channels that a failure is sent to. `chosen` replaces the rule that names only
 * this object, while a form changes it.
 */
export function notifiedChannels(
  failure: Failure,
  rules: Rule[],
  channels: Channel[],
  chosen?: string[],
): string[] {
  const applied = rules.filter((rule) => sends(rule, failure) && !(chosen && isOwn(rule, failure)))
  const ids = new Set([...applied.flatMap((rule) => rule.channels), ...(chosen ?? [])])
  return channels.filter(({ id, enable }) => enable && ids.has(id)).map(({ name }) => name)
}

/** A rule for this object alone, as the choice of its form writes it. */
function isOwn({ objects, kinds, states, tags }: Rule, { objectIds }: Failure): boolean {
  const isAlone = objects.length === 1 && objects[0] === objectIds[0]
  return isAlone && !kinds.length && !states.length && !tags.length
}

function sends(rule: Rule, failure: Failure): boolean {
  const group = `${failure.kind.split('.')[0]}.*`
  const tags = rule.tags.map((tag) => tag.toLowerCase())
  return (
    rule.enable &&
    (!rule.kinds.length || rule.kinds.includes(failure.kind) || rule.kinds.includes(group)) &&
    (!rule.objects.length || failure.objectIds.some((id) => rule.objects.includes(id))) &&
    (!rule.states.length || rule.states.includes('failure')) &&
    (!tags.length || failure.tags.some((tag) => tags.includes(tag.toLowerCase()))) &&
    (failure.severity === undefined || rank(failure.severity) >= rank(rule.severity))
  )
}
