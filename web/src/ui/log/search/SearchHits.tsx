import { ActionIcon } from '@mantine/core'
import { ChevronDown, ChevronUp } from 'lucide-react'
import { type Ref, useImperativeHandle } from 'react'
import { useKeys } from '../../../app/keys'
import { useLogText } from '../text'
import { type LogSearch, type Step, useLogSearch } from './useLogSearch'

/** The matches: their number, the current one, and buttons for the others. */
export function SearchHits({ step: ref, ...finding }: LogSearch & { step: Ref<Step> }) {
  const t = useLogText()
  const { matches, at, step } = useLogSearch(finding)
  useImperativeHandle(ref, () => step)
  useKeys({ n: () => step(1), 'Shift+n': () => step(-1) })
  return (
    <>
      <span className="log-hits num" role="status">
        {hitText(matches, at, t)}
      </span>
      <ActionIcon aria-label={t.previous} onClick={() => step(-1)} disabled={!matches}>
        <ChevronUp size={15} />
      </ActionIcon>
      <ActionIcon aria-label={t.next} onClick={() => step(1)} disabled={!matches}>
        <ChevronDown size={15} />
      </ActionIcon>
    </>
  )
}

function hitText(
  matches: number | null,
  at: number | null,
  t: ReturnType<typeof useLogText>,
): string {
  if (matches === null) return '…'
  if (matches === 0) return t.none
  return at === null ? t.matchingLines(matches) : t.matches(at, matches)
}
