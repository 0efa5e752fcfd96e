import { lazy, Suspense } from 'react'
import type { Chart, IndicatorLine } from '../../api/queries/monitoring/indicator'
import { FileView } from './FileView'
import { HtmlFrame } from './HtmlFrame'
import './indicatorFull.css'

const ValueChart = lazy(() =>
  import('../chart/ValueChart').then((found) => ({ default: found.ValueChart })),
)

interface Props {
  one: Pick<IndicatorLine, 'id' | 'title' | 'type' | 'value'>
  /** For the wall: read from across the room. */
  big?: boolean | undefined
}

/** The value of an indicator that takes more than a line; as high as the box around it. */
export function Large({ one, big }: Props) {
  if (one.type === 'html') return <HtmlFrame html={String(one.value)} title={one.title} big={big} />
  if (one.type === 'file') return <FileView id={one.id} title={one.title} />
  return (
    <Suspense>
      <ValueChart chart={one.value as Chart} title={one.title} />
    </Suspense>
  )
}
