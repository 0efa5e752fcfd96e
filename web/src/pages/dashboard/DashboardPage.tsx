import { Box, Button, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type IndicatorLine, tilesQuery } from '../../api/queries/monitoring/indicator'
import { useText as useAppText } from '../../app/text'
import { usePageTitle } from '../../app/title'
import { monitorLook } from '../../lib/state'
import { IndicatorTile } from '../../ui/indicators/IndicatorTile'
import { bySeverity } from '../../ui/monitoring/display'
import { HostsCard } from './HostsCard'
import { JobsCard } from './JobsCard'
import { MonitorsCard } from './MonitorsCard'
import { OverviewMore } from './OverviewRest'
import { PendingCard } from './PendingCard'
import { useText } from './text'
import './dashboard.css'

const MOST = 24

/** Everything that needs eyes, worst first. */
export function DashboardPage() {
  usePageTitle(useAppText().dashboard)
  return (
    <Stack gap="md">
      <Tiles />
      <Box className="dash-cols">
        <Stack gap="md">
          <MonitorsCard />
          <HostsCard />
        </Stack>
        <Stack gap="md">
          <PendingCard />
          <JobsCard />
        </Stack>
      </Box>
    </Stack>
  )
}

/** Not drawn at all where there is none. */
function Tiles() {
  const t = useText()
  const { data } = useQuery(tilesQuery)
  const [isExpanded, setExpanded] = useState(false)
  if (!data?.rows.length) return null
  const sorted = data.rows.toSorted(bySeverity)
  const visible = isExpanded ? sorted : fewest(sorted)
  return (
    <section aria-label={t.indicators}>
      <div className="tiles">
        {visible.map((tile) => (
          <IndicatorTile key={tile.id} indicator={tile} />
        ))}
      </div>
      {visible.length < sorted.length || isExpanded ? (
        <Button size="compact-xs" variant="subtle" mt={8} onClick={() => setExpanded(!isExpanded)}>
          {isExpanded ? t.fewerTiles : t.moreTiles(sorted.length - visible.length)}
        </Button>
      ) : null}
      <OverviewMore of={data} to="/indicators" />
    </section>
  )
}

/** Many tiles that are well must not push what fails below the fold. */
function fewest(sorted: IndicatorLine[]): IndicatorLine[] {
  const needed = sorted.filter((tile) => monitorLook(tile) !== 'ok' || tile.sticky).length
  return sorted.slice(0, Math.max(MOST, needed))
}
