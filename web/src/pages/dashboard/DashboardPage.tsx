import { Box, Button, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type IndicatorLine, tilesQuery } from '../../api/queries/monitoring/indicator'
import { useText as useAppText } from '../../app/text'
import { usePageTitle } from '../../app/title'
import { watchLook } from '../../lib/state'
import { Tile } from '../../ui/indicators/IndicatorTile'
import { byNeed } from '../../ui/monitoring/display'
import { HostsCard } from './HostsCard'
import { JobsCard } from './JobsCard'
import { MonitorsCard } from './MonitorsCard'
import { Rest } from './OverviewRest'
import { NeedsCard } from './PendingCard'
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
          <NeedsCard />
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
  const [isWhole, setWhole] = useState(false)
  if (!data?.rows.length) return null
  const sorted = data.rows.toSorted(byNeed)
  const shown = isWhole ? sorted : fewest(sorted)
  return (
    <section aria-label={t.indicators}>
      <div className="tiles">
        {shown.map((one) => (
          <Tile key={one.id} one={one} />
        ))}
      </div>
      {shown.length < sorted.length || isWhole ? (
        <Button size="compact-xs" variant="subtle" mt={8} onClick={() => setWhole(!isWhole)}>
          {isWhole ? t.fewerTiles : t.moreTiles(sorted.length - shown.length)}
        </Button>
      ) : null}
      <Rest of={data} to="/indicators" />
    </section>
  )
}

/** Many tiles that are well must not push what fails below the fold. */
function fewest(sorted: IndicatorLine[]): IndicatorLine[] {
  const needed = sorted.filter((one) => watchLook(one) !== 'ok' || one.sticky).length
  return sorted.slice(0, Math.max(MOST, needed))
}
