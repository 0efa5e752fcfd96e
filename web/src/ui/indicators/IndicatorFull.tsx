import { lazy, Suspense } from 'react'
import type { IndicatorLine } from '../../api/queries/monitoring/indicator'
import { FileView } from './FileView'
import { HtmlFrame } from './HtmlFrame'
import './indicatorFull.css'

const FigureChart = lazy(() =>
  import('../chart/figure/FigureChart').then((module) => ({ default: module.FigureChart })),
)

interface Props {
  indicator: Pick<IndicatorLine, 'id' | 'title' | 'type' | 'value'>
  /** For the wall: large enough to be read from across the room. */
  big?: boolean | undefined
}

/** The value of an indicator that takes more than a line; as high as the box around it. */
export function IndicatorFull({ indicator, big }: Props) {
  if (indicator.type === 'html')
    return <HtmlFrame html={String(indicator.value)} title={indicator.title} big={big} />
  if (indicator.type === 'file') return <FileView id={indicator.id} title={indicator.title} />
  return (
    <Suspense>
      <FigureChart value={indicator.value} title={indicator.title} />
    </Suspense>
  )
}
