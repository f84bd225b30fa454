/** Word lists. Names of people, firms and organisations are made of them and belong to nobody. */

/** [state, three digits its ZIP codes begin with, places, counties]. */
export const STATES: readonly (readonly [string, string, readonly string[], readonly string[]])[] = [
  ["AK", "995", ["Anchorage", "Juneau", "Sitka"], ["Kenai", "Denali"]],
  ["AL", "352", ["Birmingham", "Mobile", "Decatur", "Selma"], ["Baldwin", "Marengo", "Shelby"]],
  ["AR", "722", ["Little Rock", "Conway", "Jonesboro"], ["Pulaski", "Saline", "Garland"]],
  ["AZ", "850", ["Phoenix", "Mesa", "Yuma", "Flagstaff"], ["Pinal", "Yavapai", "Cochise"]],
  ["CA", "945", ["Fresno", "Modesto", "Redding", "Oxnard", "Carlsbad", "Los Robles"], ["Tulare", "Yolo", "Sonoma", "Kern", "Sierra Vista"]],
  ["CO", "802", ["Denver", "Pueblo", "Greeley", "Durango"], ["Larimer", "Mesa", "El Paso"]],
  ["CT", "061", ["Hartford", "Norwich", "Danbury"], ["Litchfield", "Tolland"]],
  ["DE", "198", ["Dover", "Newark", "Milford"], ["Kent", "Sussex"]],
  ["FL", "323", ["Ocala", "Tampa", "Pensacola", "Sarasota"], ["Leon", "Alachua", "Citrus", "Polk"]],
  ["GA", "303", ["Macon", "Savannah", "Athens", "Valdosta"], ["Fulton", "Bibb", "Glynn"]],
  ["HI", "968", ["Hilo", "Honolulu", "Kāneʻohe"], ["Maui", "Kauai"]],
  ["IA", "503", ["Des Moines", "Ames", "Dubuque", "Mason City"], ["Polk", "Linn", "Story", "Cerro Gordo"]],
  ["ID", "837", ["Boise", "Nampa", "Coeur d’Alene"], ["Ada", "Canyon", "Bonner"]],
  ["IL", "627", ["Springfield", "Peoria", "Joliet", "Aurora"], ["McLean", "Sangamon", "Will", "DuPage"]],
  ["IN", "462", ["Muncie", "Gary", "Terre Haute"], ["Allen", "Monroe", "Vigo"]],
  ["KS", "666", ["Topeka", "Salina", "Wichita"], ["Riley", "Sedgwick", "Ford"]],
  ["KY", "406", ["Frankfort", "Paducah", "Bowling Green"], ["Warren", "Pike", "Boone"]],
  ["LA", "708", ["Lafayette", "Monroe", "Houma", "Natchitoches"], ["Caddo", "Iberia"]],
  ["MA", "021", ["Worcester", "Lowell", "Springfield", "Quincy"], ["Berkshire", "Essex", "Hampden"]],
  ["MD", "212", ["Frederick", "Salisbury", "Annapolis"], ["Harford", "Calvert", "Charles"]],
  ["ME", "043", ["Augusta", "Bangor", "Lewiston"], ["Kennebec", "Oxford"]],
  ["MI", "489", ["Lansing", "Flint", "Saginaw", "Marquette"], ["Kent", "Ingham", "Ottawa", "Alpena"]],
  ["MN", "551", ["Duluth", "Mankato", "Rochester", "St. Cloud"], ["Anoka", "Polk", "Stearns", "Itasca"]],
  ["MO", "651", ["Jefferson City", "Joplin", "Rolla"], ["Greene", "Boone", "Jasper", "Polk"]],
  ["MS", "392", ["Jackson", "Biloxi", "Tupelo"], ["Hinds", "Lee", "Lauderdale"]],
  ["MT", "596", ["Helena", "Billings", "Butte"], ["Cascade", "Gallatin"]],
  ["NC", "276", ["Raleigh", "Asheville", "Wilmington", "Hickory"], ["Wake", "Onslow", "Pitt", "Polk"]],
  ["ND", "585", ["Bismarck", "Minot", "Fargo"], ["Burleigh", "Ward"]],
  ["NE", "685", ["Lincoln", "Kearney", "Grand Island"], ["Lancaster", "Hall", "Platte"]],
  ["NH", "033", ["Concord", "Keene", "Nashua"], ["Grafton", "Coos"]],
  ["NJ", "086", ["Trenton", "Camden", "Vineland", "Paterson"], ["Ocean", "Salem", "Mercer"]],
  ["NM", "875", ["Santa Fe", "Las Cruces", "Española", "Gallup"], ["Doña Ana", "Taos", "San Juan"]],
  ["NV", "897", ["Carson City", "Elko", "Sparks"], ["Washoe", "Clark"]],
  ["NY", "122", ["Albany", "Utica", "Ithaca", "Elmira", "Yonkers"], ["Oneida", "Tioga", "Ulster", "Broome"]],
  ["OH", "432", ["Dayton", "Toledo", "Akron", "Lima"], ["Licking", "Stark", "Athens", "Wood"]],
  ["OK", "731", ["Norman", "Tulsa", "Enid"], ["Cleveland", "Comanche", "Payne"]],
  ["OR", "973", ["Salem", "Eugene", "Bend", "Astoria"], ["Lane", "Polk", "Jackson", "Wasco"]],
  ["PA", "171", ["Harrisburg", "Erie", "Scranton", "Altoona"], ["Bucks", "Centre", "Dauphin", "Elk"]],
  ["PR", "006", ["Añasco", "Mayagüez", "Peñuelas", "Rincón", "Canóvanas", "Bayamón"], ["Añasco"]],
  ["RI", "029", ["Warwick", "Pawtucket", "Newport"], ["Bristol", "Washington"]],
  ["SC", "292", ["Columbia", "Florence", "Aiken"], ["Horry", "York", "Sumter"]],
  ["SD", "575", ["Pierre", "Rapid City", "Yankton"], ["Minnehaha", "Brookings"]],
  ["TN", "372", ["Nashville", "Jackson", "Kingsport"], ["Knox", "Polk", "Maury"]],
  ["TX", "787", ["Austin", "Lubbock", "Waco", "Laredo", "Tyler", "El Paso"], ["Baylor", "Bexar", "Hidalgo", "Travis", "Polk"]],
  ["UT", "841", ["Provo", "Ogden", "St. George"], ["Cache", "Weber", "San Juan"]],
  ["VA", "232", ["Richmond", "Roanoke", "Norfolk", "Staunton"], ["Fairfax", "Albemarle", "Wise"]],
  ["VT", "056", ["Montpelier", "Rutland", "Burlington"], ["Addison", "Windsor"]],
  ["WA", "985", ["Olympia", "Yakima", "Spokane", "Everett"], ["King", "Skagit", "Chelan", "Pierce"]],
  ["WI", "537", ["Madison", "Eau Claire", "Wausau", "Racine"], ["Dane", "Polk", "Brown", "Door"]],
  ["WV", "253", ["Charleston", "Wheeling", "Beckley"], ["Kanawha", "Raleigh", "Mingo"]],
  ["WY", "820", ["Cheyenne", "Casper", "Laramie"], ["Albany", "Teton"]],
  ["GU", "969", ["Hagåtña", "Dededo"], ["Guam"]],
];

/** States that file more reports than others; the rest weigh 1. */
export const STATE_WEIGHTS: Readonly<Record<string, number>> = {
  CA: 7, NY: 5, TX: 5, PA: 4, IL: 4, OH: 3.5, FL: 3.5, MI: 3, NJ: 3, MA: 3, NC: 2.5, WA: 2.5, MN: 2.5, WI: 2, MO: 2,
  GA: 2, VA: 2, IN: 2, OK: 1.8, TN: 1.8, CO: 1.6, AZ: 1.6, OR: 1.5, IA: 1.5, GU: 0.2, PR: 1, DE: 0.4, WY: 0.4,
};

export const NEUTRAL_WORDS = [
  "Cedar", "Blue Mesa", "Willow Creek", "Three Rivers", "Northern Light", "Granite", "Prairie", "Harbor", "Evergreen",
  "Lakeview", "Silver Fork", "Red Clay", "Stone Bridge", "Meadow", "Summit", "Riverbend", "Tall Pine", "Juniper", "Maple",
  "Copper Hill", "Clear Water", "Sandstone", "Birch", "Highland", "Heron", "Sage", "Fox Hollow", "Windmill", "Orchard",
] as const;

export const FIRST_NAMES = [
  "Alex", "Casey", "Dana", "Drew", "Emery", "Finley", "Harper", "Jamie", "Jordan", "Kai", "Lee", "Logan", "Morgan",
  "Noel", "Parker", "Quinn", "Reese", "Riley", "Robin", "Rowan", "Sage", "Sam", "Skyler", "Taylor", "José", "Zoë",
] as const;

export const LAST_NAMES = [
  "Alder", "Ashford", "Beck", "Birchwood", "Carver", "Dell", "Eastman", "Fielding", "Garner", "Hollis", "Ibáñez",
  "Joyner", "Kestrel", "Larkin", "Marsh", "Núñez", "Oakes", "Penn", "Quill", "Redfern", "Stroud", "Thorne", "Underhill",
  "Vale", "Whitlock", "Yarrow", "O'Dell", "Müller",
] as const;

export const AUDITEE_TITLES = [
  "Finance Director", "Chief Financial Officer", "Executive Director", "Controller", "County Auditor",
  "Business Manager", "Superintendent", "Treasurer", "Grants Manager", "Vice President for Finance",
] as const;

export const AUDITOR_TITLES = ["Partner", "Principal", "Shareholder", "Director", "Senior Manager", "Manager"] as const;

export const STREETS = [
  "Main Street", "Court Square", "W. 4th Avenue", "Industrial Parkway", "College Drive", "Calle Comercio", "River Road",
  "State Route 9", "Market Street, Suite 200", "P.O. Box Lane",
] as const;

/** Names by kind of auditee. {place}, {county}, {word}, {state} are filled in. */
export const AUDITEE_NAMES = {
  local: [
    "CITY OF {place}", "{county} COUNTY", "{place} UNIFIED SCHOOL DISTRICT", "Town of {place}", "County of {county}",
    "{place} Housing Authority", "{county} COUNTY SCHOOL DISTRICT", "VILLAGE OF {word}", "{place} Public Schools",
    "{county} County Transit Authority", "City of {place}", "{word} Independent School District No. 12",
    "{county} County Public Utility District No. 1", "TOWN OF {word}", "{place} Charter Township",
  ],
  "non-profit": [
    "{place} Community Action Agency, Inc.", "{word} Health Center, Inc.", "{word} Family Services", "{word} HEAD START, INC.",
    "{place} Legal Aid Society", "{word} Charter School", "{word} House, Inc. and Affiliates", "{place} Food Bank",
    "{word} Senior Services, Inc.", "{county} County Economic Opportunity Council", "{word} Workforce Alliance, Inc.",
    "{place} Regional Medical Center", "{word} Affordable Housing, L.P.", "Friends of {word}’s Future, Inc.",
  ],
  "higher-ed": [
    "{word} University", "{place} Community College", "UNIVERSITY OF {word}", "{place} State University",
    "{word} College and Subsidiaries", "{county} County Community College District", "{place} TECHNICAL COLLEGE",
    "{word} School of Medicine", "{place} State University Research Foundation",
  ],
  state: [
    "STATE OF {state}", "{state} DEPARTMENT OF TRANSPORTATION", "{state} Department of Health and Human Services",
    "{state} Housing Finance Agency", "{state} Department of Education",
  ],
  tribal: [
    "{word} Nation", "{word} Band of Indians", "{word} Tribal Council", "{word} Tribal Housing Authority",
    "Confederated Tribes of {word}", "{word} Pueblo",
  ],
  unknown: ["{word} Joint Board", "{place} Authority"],
} as const;

/** Instead of "CITY OF" and the like in Puerto Rico. */
export const PUERTO_RICO_NAMES = [
  "MUNICIPIO DE {place}", "Municipio Autónomo de {place}", "MUNICIPALITY OF {place}", "Corporación de Salud de {place}, Inc.",
] as const;

/** [state, name written in the names of its agencies]. */
export const STATE_NAMES: Readonly<Record<string, string>> = {
  AK: "Alaska", AL: "Alabama", AR: "Arkansas", AZ: "Arizona", CA: "California", CO: "Colorado", CT: "Connecticut",
  DE: "Delaware", FL: "Florida", GA: "Georgia", GU: "Guam", HI: "Hawaii", IA: "Iowa", ID: "Idaho", IL: "Illinois",
  IN: "Indiana", KS: "Kansas", KY: "Kentucky", LA: "Louisiana", MA: "Massachusetts", MD: "Maryland", ME: "Maine",
  MI: "Michigan", MN: "Minnesota", MO: "Missouri", MS: "Mississippi", MT: "Montana", NC: "North Carolina",
  ND: "North Dakota", NE: "Nebraska", NH: "New Hampshire", NJ: "New Jersey", NM: "New Mexico", NV: "Nevada",
  NY: "New York", OH: "Ohio", OK: "Oklahoma", OR: "Oregon", PA: "Pennsylvania", PR: "Puerto Rico", RI: "Rhode Island",
  SC: "South Carolina", SD: "South Dakota", TN: "Tennessee", TX: "Texas", UT: "Utah", VA: "Virginia", VT: "Vermont",
  WA: "Washington", WI: "Wisconsin", WV: "West Virginia", WY: "Wyoming",
};

export const FIRM_ENDINGS = ["LLP", "PLLC", "P.C.", "& Company, CPAs", "CPAs, Inc.", "& Associates, LLC"] as const;

/** Who passes federal money down. {state} is the auditee's. */
export const PASSTHROUGH_NAMES = [
  "{STATE} DEPARTMENT OF EDUCATION", "{STATE} DEPARTMENT OF HEALTH", "{STATE} DEPARTMENT OF HUMAN SERVICES",
  "{state} Department of Transportation", "{state} Emergency Management Agency", "{STATE} DEPARTMENT OF AGRICULTURE",
  "{state} Office of the Governor", "{STATE} DEPARTMENT OF LABOR", "Area Agency on Aging, Region 4",
  "{word} University", "{word} Regional Council of Governments", "{STATE} DEPARTMENT OF JUSTICE",
] as const;

export const PASSTHROUGH_IDS = ["NO PASSTHROUGH ID PROVIDED", "N/A", "UNKNOWN", "VARIOUS", ""] as const;
