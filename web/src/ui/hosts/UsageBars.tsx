import { Progress } from '@mantine/core'
import { number } from '../../lib/i18n'
import { useUsageText } from './usageText'
import './usageBars.css'

interface Props {
  cpu: number | null
  mem: number | null
  disk: number | null
}

/** Three bars: how busy, how full. */
export function UsageBars(figures: Props) {
  const w = useUsageText()
  if (figures.cpu === null && figures.mem === null && figures.disk === null) return null
  return (
    <div className="figures">
      {(['cpu', 'mem', 'disk'] as const).map((name) => (
        <Figure key={name} word={w[name]} value={figures[name]} />
      ))}
    </div>
  )
}

function Figure({ word, value }: { word: string; value: number | null }) {
  const color = value === null || value < 80 ? 'run' : value < 90 ? 'warn' : 'fail'
  return (
    <div className="figure">
      <span>{word}</span>
      <b className="num">{value === null ? '—' : `${number(value)} %`}</b>
      <Progress
        value={value ?? 0}
        size={4}
        radius="xl"
        color={`var(--st-${color})`}
        aria-label={word}
      />
    </div>
  )
}
