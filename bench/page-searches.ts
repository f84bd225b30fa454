/** Searches of the pages, of every kind that site/search/readers.ts lists. At full size, each should take at most 300 ms of CPU time. */
export const pageSearches = `
93.778
84.010
14.871 2024
20.507
93.224 GU
93.778 TX
93.778 TX 2022
TX 93.778 2022
84.010 CA
84.010 CA 2019
10.555 NY 2023
21.027 OH
21.027 2016
14.218 WY
93
93 TX
HHS
HHS Texas 2022
10 2019
12 CA 2020
84 VT 2023
97 LA
Department of the Interior
Interior Alaska
Peace Corps
Peace Corps MD
tx
Texas 2023
FY23 Wyoming
Guam
2016
2022
lakeview
anasco
county
University
school district
City of Springfield
County of Shelby
Shelby County, AL
AL Shelby County
Polk County Iowa
University of Texas
Washington 2021
KPMG LLP
Smith
Moss Adams CA
and associates
associates 2023
Brown & O'Neill Ohio
Univ Alask
Sch Dist
Head Start
Medicaid California
CDBG
title XIX 2023
Shelbey
Univercity of Iowa
Likcing County
Sprngfeld Scool District
Dpringfield Scool District
incorporated county school district housinq
ABCDEFGH1243
zzyzx qwv
EIN 426005243
ABCDEFGH1234
`
  .trim()
  .split("\n");
