import { Text } from '@mantine/core'
import { useMemo } from 'react'
import { diffLines, foldUnchanged } from './diff'
import './editor.css'
import { useText } from './text'

/** The difference between two texts, with signs and colours; unchanged lines are folded. */
export function DiffView({
  before,
  after,
  label,
}: {
  before: string
  after: string
  label: string
}) {
  const t = useText()
  const lines = useMemo(() => diffLines(before, after), [before, after])
  const plus = lines.filter((line) => line.kind === '+').length
  const minus = lines.filter((line) => line.kind === '-').length
  if (plus + minus === 0)
    return (
      <Text size="sm" c="dimmed">
        {t.same}
      </Text>
    )
  return (
    <>
      <Text size="xs" c="dimmed" mb={6}>
        {t.lines(plus, minus)}
      </Text>
      <section className="diff mono" aria-label={label} tabIndex={0}>
        <div className="diff-rows">
          {foldUnchanged(lines).map((part, n) =>
            'hidden' in part ? (
              <div key={n} className="diff-gap">
                {t.hidden(part.hidden)}
              </div>
            ) : (
              <div key={n} className="diff-row" data-kind={part.kind}>
                <span>{part.before ?? ''}</span>
                <span>{part.after ?? ''}</span>
                <span>{part.kind}</span>
                <code>{part.text}</code>
              </div>
            ),
          )}
        </div>
      </section>
    </>
  )
}
